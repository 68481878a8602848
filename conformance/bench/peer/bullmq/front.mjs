// BullMQ behind Node's own HTTP server, with workers in a thread of their own that do nothing. The arguments are the address of
// Redis, the name of the queue and how many jobs the workers work on at once. POST / enqueues the body and answers once it is
// stored; POST /done answers once it is done, for one job at a time; GET / says how many jobs are done.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { isMainThread, Worker as Thread, workerData } from "node:worker_threads";
import { Queue, Worker } from "bullmq";

const [address, name, workers] = process.argv.slice(2);
const [host, port] = address.split(":");
const connection = { host, port: Number(port) };

if (isMainThread) {
  const done = new Int32Array(new SharedArrayBuffer(4));
  if (Number(workers) > 0) new Thread(fileURLToPath(import.meta.url), { workerData: done, argv: process.argv.slice(2) });
  const queue = new Queue(name, { connection });
  const server = createServer((request, response) => {
    const answer = (text) => response.writeHead(200, { "Content-Length": text.length }).end(text);
    if (request.method === "GET") return answer(String(Atomics.load(done, 0)));
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", async () => {
      const before = Atomics.load(done, 0);
      await queue.add("job", { body: Buffer.concat(chunks).toString() }, { removeOnComplete: true });
      if (request.url === "/done") {
        const changed = Atomics.waitAsync(done, 0, before);
        if (changed.async) await changed.value;
      }
      answer('{"status":"IN_QUEUE"}');
    });
  });
  await queue.waitUntilReady();
  server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })));
} else {
  const done = workerData;
  new Worker(
    name,
    async () => {
      Atomics.add(done, 0, 1);
      Atomics.notify(done, 0);
    },
    { connection, concurrency: Number(workers) },
  );
}
