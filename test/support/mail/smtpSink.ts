import * as SmtpServer from "./smtpServer.ts"

/**
 * A counting sink as a program of its own: `node smtpSink.ts [port]` prints its port, and at SIGTERM the number of times
 * that each Message-ID was stored, as JSON.
 */
const server = await SmtpServer.open({ keep_bytes: false, port: Number(process.argv[2] ?? 0) })
process.stdout.write(`${server.port}\n`)
process.on("SIGTERM", () => {
  process.stdout.write(`${JSON.stringify(Object.fromEntries(server.counts))}\n`)
  void server.close().then(() => process.exit(0))
})
