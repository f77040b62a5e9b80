import type { Network } from "@waybill/domain/values/Network"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { AdmittedKey } from "@waybill/store/admission/AdmittedKey"
import { Admitted } from "../../../apps/server/src/requests/Admitted.ts"
import { Instance } from "../../../apps/server/src/settings/Instance.ts"
import * as RemoteFile from "../../../apps/server/src/compat/RemoteFile.ts"
import { assert, it } from "../../support/effectTest.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import { testInstance } from "../../support/world/testInstance.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"

const services = (allowed: ReadonlyArray<string>, ofWebhooks: ReadonlyArray<string> = []) =>
  Layer.merge(
    dnsZones({ "files.test": { A: ["127.0.0.1"] }, "inside.test": { A: ["10.0.0.1"] } }),
    Layer.succeed(
      Instance,
      testInstance({
        allowedNetworks: ofWebhooks as ReadonlyArray<Network>,
        attachmentNetworks: allowed as ReadonlyArray<Network>,
      }),
    ),
  )

const LOOPBACK = ["127.0.0.0/8"]

const fetched = (
  url: string,
  { allowed = LOOPBACK, budget = RemoteFile.budget(), ofWebhooks = [] as ReadonlyArray<string> } = {},
) =>
  RemoteFile.fetch(url, "attachments[0].path", budget).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: (file) => file }),
    Effect.provide(services(allowed, ofWebhooks)),
  )

/** Serves files on loopback, under the name `files.test`. */
const served = (answer: WebhookReceiver.Options["answer"]) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => WebhookReceiver.open(answer === undefined ? {} : { answer })),
      (receiver) => Effect.promise(receiver.close),
    ),
    (receiver) => ({ ...receiver, base: `http://files.test:${receiver.port}` }),
  )

const body = (text: string, headers = {}) => ({ status: 200, headers, body: text })

it.effect("fetches a file with its type, and follows redirects", function* () {
  const { base } = yield* served(({ path }) =>
    path === "/old"
      ? { status: 302, headers: { location: "/new" } }
      : body("a", { "content-type": "text/csv; charset=x" }),
  )
  assert.deepStrictEqual(yield* fetched(`${base}/old`), { content: "YQ==", type: "text/csv" })
  const loop = yield* served(() => ({ status: 301, headers: { location: "/" } }))
  assert.strictEqual(yield* fetched(loop.base), "`attachments[0].path` redirects more than 3 times.")
  assert.lengthOf(loop.calls, 4)
})

it.effect("refuses hosts in private networks, without a connection to them", function* () {
  const { base, calls, port } = yield* served(() => body("secret"))
  const message = (host: string) => `\`attachments[0].path\` has a host without a public address: ${host}.`
  assert.strictEqual(yield* fetched(base, { allowed: [] }), message("files.test"))
  for (const host of ["127.0.0.1", "[::1]", "localhost", "169.254.169.254", "10.0.0.1"])
    assert.strictEqual(yield* fetched(`http://${host}:${port}/`, { allowed: [] }), message(host))
  // What webhooks may reach says nothing about attachments.
  assert.strictEqual(yield* fetched(base, { allowed: [], ofWebhooks: LOOPBACK }), message("files.test"))
  assert.strictEqual(yield* fetched("http://inside.test/"), message("inside.test"))
  assert.strictEqual(yield* fetched("http://nowhere.test/"), message("nowhere.test"))
  assert.lengthOf(calls, 0)
})

// threat: internal-addresses
it.effect("refuses a redirect into a private network", function* () {
  for (const location of ["http://10.0.0.1/", "http://inside.test/", "http://169.254.169.254/latest/meta-data/"]) {
    const { base, calls } = yield* served(() => ({ status: 307, headers: { location } }))
    const message = `\`attachments[0].path\` has a host without a public address: ${new URL(location).hostname}.`
    assert.strictEqual(yield* fetched(base), message)
    assert.lengthOf(calls, 1)
  }
  const { base } = yield* served(() => ({ status: 302, headers: { location: "file:///etc/passwd" } }))
  assert.match(String(yield* fetched(base)), /must be an http or https URL/u)
})

it.effect("refuses other URLs, statuses and files that end early", function* () {
  for (const url of ["file:///etc/passwd", "ftp://files.test/a", "/tmp/a.txt", "http://u:p@files.test/"])
    assert.match(String(yield* fetched(url)), /^`attachments\[0\]\.path` must be an http or https URL/u, url)
  const missing = yield* served(() => ({ status: 404 }))
  assert.strictEqual(yield* fetched(missing.base), "`attachments[0].path` was answered with the status 404.")
  const dropped = yield* served(() => "drop")
  assert.strictEqual(yield* fetched(dropped.base), "`attachments[0].path` could not be fetched.")
  const short = yield* served(() => body("abc", { "content-length": "9" }))
  assert.strictEqual(yield* fetched(short.base), "`attachments[0].path` ended before it was complete.")
})

it.effect("fetches no more bytes and files than one request may", function* () {
  const half = "x".repeat(RemoteFile.MAX_REMOTE_BYTES / 2)
  const { base, calls } = yield* served(() => body(half))
  const budget = RemoteFile.budget()
  for (let nth = 0; nth < 2; nth++) assert.isObject(yield* fetched(base, { budget }))
  const message = `\`attachments[0].path\` is larger than ${RemoteFile.MAX_REMOTE_BYTES} bytes, together with the other files.`
  assert.strictEqual(yield* fetched(base, { budget }), message)
  const before = calls.length
  const spent = { ...RemoteFile.budget(), files: 1 }
  assert.isObject(yield* fetched(base, { budget: spent }))
  assert.match(String(yield* fetched(base, { budget: spent })), /is one of more than 20 files/u)
  assert.lengthOf(calls, before + 1)
})

it.effect("gives up on a server that is too slow", function* () {
  for (const answer of ["hang", "stall"] as const) {
    const arrival = Promise.withResolvers<void>()
    const { base } = yield* served(() => {
      arrival.resolve()
      return answer
    })
    const waiting = yield* Effect.forkChild(fetched(base))
    yield* Effect.promise(() => arrival.promise)
    yield* TestClock.adjust(RemoteFile.REMOTE_FILE_TIMEOUT)
    const exit = yield* Fiber.await(waiting)
    assert.deepStrictEqual(exit, Exit.succeed("`attachments[0].path` did not arrive within 10 s."))
  }
})

// threat: fetched-files
it.effect("lets accounts take turns while the files of one are slow", function* () {
  const slow = 2 * RemoteFile.MAX_CONCURRENT_FETCHES
  const full = Promise.withResolvers<void>()
  const stuck = yield* served((_, nth) => {
    if (nth === RemoteFile.MAX_FETCHES_PER_ACCOUNT) full.resolve()
    return "hang"
  })
  const quick = yield* served(() => body("a"))
  const as = (account_id: string) =>
    Effect.provideService(Admitted, { key: { account_id } as AdmittedKey, address: "127.0.0.1" })
  const waiting = yield* Effect.forEach(Array.from({ length: slow }), () =>
    Effect.forkChild(as("acc_a")(fetched(stuck.base))),
  )
  yield* Effect.promise(() => full.promise)
  // The clock stands still, so that no slow file gives its slot back.
  assert.deepStrictEqual(yield* as("acc_b")(fetched(quick.base)), { content: "YQ==", type: undefined })
  assert.lengthOf(stuck.calls, RemoteFile.MAX_FETCHES_PER_ACCOUNT)
  yield* Effect.forEach(waiting, Fiber.interrupt)
})
