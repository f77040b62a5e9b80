import { Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const FOLDER = fileURLToPath(new URL(".", import.meta.url))

beforeAll(async () => {
  const { href } = new URL("../../../bin/install.mjs", import.meta.url)
  const { ensureModules } = (await import(href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder: FOLDER })
}, 120_000)

interface Call {
  readonly path: string
  readonly FromEmailAddress: string
  readonly Destination: { readonly ToAddresses: ReadonlyArray<string> }
  readonly Content: { readonly Raw: { readonly Data: string } }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** A server with the API of SES: limits the rate once, then takes all mail but that to a refused address. */
const sesServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const calls: Array<Call> = []
    const server = createServer((request, response) => {
      void bodyOf(request).then((text) => {
        const call = { path: request.url ?? "", ...(JSON.parse(text) as Omit<Call, "path">) }
        const answer = (status: number, body: object, type?: string) =>
          response
            .writeHead(status, { "content-type": "application/json", ...(type && { "x-amzn-errortype": type }) })
            .end(JSON.stringify(body))
        if (calls.push(call) === 1) return answer(429, { message: "Too fast" }, "TooManyRequestsException")
        return call.Destination.ToAddresses.includes("refused@example.org")
          ? answer(400, { message: "Virus found" }, "MessageRejected")
          : answer(200, { MessageId: `0102-${calls.length}` })
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { calls, server, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    }),
)

layer(World.layer, { excludeTestServices: true })("Amazon SES", (it) => {
  it.effect(
    "takes the signed mail of a domain that chose nodemailer, at its own pace, and refuses some for good",
    function* () {
      const { calls, endpoint } = yield* sesServer
      const credentials = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "s3cret-of-ses" }
      const { url } = yield* Database.Fresh
      const node = yield* ServiceProcess.start(
        url,
        {
          NODEMAILER_TRANSPORT: "ses",
          NODEMAILER_OPTIONS: JSON.stringify({ region: "eu-west-1", endpoint, credentials }),
        },
        FOLDER,
      )
      const { account_id, key, post } = yield* ServiceProcess.signUp(node)
      yield* CommandLine.typed("domains", "transport", "--account", account_id, "acme.test", "nodemailer")
      const sent = Effect.fnUntraced(function* (to: string) {
        const { json } = yield* post("/v1/email/send", {
          from: "hi@acme.test",
          to,
          subject: "Receipt",
          text: "Thank you",
        })
        const log = Effect.promise(() => node.request("GET", `/v1/email/logs/${json.id}`, { key }))
        const { json: record } = yield* World.until(
          log,
          (answer) => answer.json.recipients[0].status.match(/queued|sending|deferred/u) === null,
        )
        return record.recipients[0]
      })

      const ana = yield* sent("ana@example.org")
      assert.deepStrictEqual([ana.status, ana.attempts, ana.smtp.response], ["delivered", 1, "0102-2"])
      const [limited, taken] = calls
      assert.deepStrictEqual(limited, taken)
      assert.deepInclude(taken, {
        path: "/v2/email/outbound-emails",
        Destination: { ToAddresses: ["ana@example.org"] },
      })
      const raw = Buffer.from(taken?.Content.Raw.Data ?? "", "base64").toString()
      assert.match(raw, /^DKIM-Signature: .*[^]*\r\n\r\nThank you/mu)

      const refused = yield* sent("refused@example.org")
      assert.deepStrictEqual([refused.status, refused.smtp.response], ["failed", "Virus found"])
      assert.notInclude(node.output(), "s3cret-of-ses")
    },
    120_000,
  )
})
