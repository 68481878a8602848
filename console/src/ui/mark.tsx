export const Mark = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#0b6e75" />
    <path d="M7 19h18l-3 6H10zM11 9h4v8h-4zm6 3h4v5h-4z" fill="#fff" />
  </svg>
)
