-- Who has keys, and what these permit at most.
CREATE TABLE users (
  name       text COLLATE "C" PRIMARY KEY, -- as in user_id elsewhere
  role       text COLLATE "C" NOT NULL,    -- admin, member or reader
  disabled   bigint NOT NULL,              -- none of its keys is good
  created_at bigint
);

-- Who has a key: whoever has a good one of everything stays an admin, so that every key permits what it permitted.
INSERT INTO users (name, role, disabled, created_at)
SELECT user_id, CASE WHEN user_id = 'owner' OR max(CASE WHEN revoked_at IS NULL AND (scopes LIKE '%"all"%' OR scopes LIKE '%"admin"%') THEN 1 ELSE 0 END) = 1 THEN 'admin' ELSE 'member' END,
  0, min(created_at)
FROM keys WHERE worker_id = '' GROUP BY user_id;
