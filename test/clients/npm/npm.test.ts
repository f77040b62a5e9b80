import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const FOLDER = fileURLToPath(new URL(".", import.meta.url))
const PRELOAD = new URL("../../../packages/redirect/src/preload.ts", import.meta.url).href

beforeAll(async () => {
  const { href } = new URL("../../../bin/install.mjs", import.meta.url)
  const { ensureModules } = (await import(href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder: FOLDER })
}, 120_000)

interface Outcome {
  readonly name: string
  readonly send: string
  readonly batch?: string
  readonly refused: string
}

interface Listed {
  readonly id: string
  readonly subject: string
}

/** Emails that each client sends: one, and two of a batch where it has one. */
const BY_ADDRESS: Readonly<Record<string, number>> = {
  "resend-1": 1,
  "resend-2": 3,
  "resend-3": 3,
  "resend-4": 3,
  "resend-5": 3,
  "resend-6-1": 3,
  "resend-6-12": 3,
  "resend-6-34": 3,
  resend: 3,
  "postmark-2": 3,
  "postmark-3": 3,
  "postmark-4": 3,
  postmark: 3,
  "sendgrid-mail-6": 3,
  "sendgrid-mail-7": 3,
  "sendgrid-mail": 3,
  "nodemailer-postmark-transport": 1,
  "strapi-provider-email-resend": 1,
}
const BY_REDIRECT: Readonly<Record<string, number>> = {
  "nodemailer-sendgrid": 1,
  "authjs-resend": 1,
  "authjs-postmark": 1,
  "authjs-sendgrid": 1,
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("published clients", (it) => {
  /** Runs all clients of one kind in a process of their own. */
  const sent = Effect.fnUntraced(function* (kind: string, ...flags: ReadonlyArray<string>) {
    const world = yield* HttpWorld
    const { secret: key } = yield* world.key(yield* world.account())
    yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
    const env = {
      PATH: process.env["PATH"] ?? "",
      KEY: key,
      WAYBILL_URL: world.url,
      RESEND_BASE_URL: `${world.url}/compat/resend`,
    }
    const { stderr, stdout } = yield* Effect.promise(
      () =>
        new Promise<{ readonly stdout: string; readonly stderr: string }>((resolve) =>
          execFile(
            process.execPath,
            ["--no-warnings", ...flags, "send.ts", kind],
            { cwd: FOLDER, env, timeout: 60_000 },
            (_, out, err) => resolve({ stdout: out, stderr: err }),
          ),
        ),
    )
    const outcomes = stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Outcome)
    const { json } = yield* world.request("GET", "/v1/email/logs?limit=100", { key })
    const emailsOf = (name: string) =>
      (json.data as ReadonlyArray<Listed>).filter(({ subject }) => subject.split(" ").at(-1) === `${name}.test`)
    const filesOf = Effect.fnUntraced(function* (name: string) {
      const logs = yield* Effect.forEach(emailsOf(name), ({ id }) =>
        world.request("GET", `/v1/email/logs/${id}`, { key }),
      )
      return logs.flatMap(({ json: log }) =>
        log.content.attachments.map((file: { readonly filename: string; readonly size_bytes: number }) => [
          file.filename,
          file.size_bytes,
        ]),
      )
    })
    return { outcomes, emailsOf, filesOf, stderr }
  })

  const FILE = [["a.bin", 5]]

  it.effect("send, send batches, attach files and show refusals by one variable or option", function* () {
    const { emailsOf, filesOf, outcomes, stderr } = yield* sent("address")
    assert.deepStrictEqual(
      outcomes.map(({ name }) => name),
      Object.keys(BY_ADDRESS),
      stderr,
    )
    for (const { batch = "sent", name, refused, send } of outcomes) {
      assert.deepStrictEqual([send, batch], ["sent", "sent"], name)
      assert.match(refused, /The domain elsewhere\.test is not a domain of this account/u, name)
      assert.lengthOf(emailsOf(name), BY_ADDRESS[name] ?? 0, name)
      assert.deepStrictEqual(yield* filesOf(name), FILE, name)
    }
  })

  it.effect("that know one host only send by the redirect", function* () {
    const { emailsOf, filesOf, outcomes, stderr } = yield* sent("redirect", `--import=${PRELOAD}`)
    assert.deepStrictEqual(
      outcomes.map(({ name }) => name),
      Object.keys(BY_REDIRECT),
      stderr,
    )
    for (const { name, refused, send } of outcomes) {
      assert.strictEqual(send, "sent", name)
      assert.match(refused, /The domain elsewhere\.test is not a domain of this account/u, name)
      assert.lengthOf(emailsOf(name), BY_REDIRECT[name] ?? 0, name)
      assert.deepStrictEqual(yield* filesOf(name), name.startsWith("authjs") ? [] : FILE, name)
    }
  })
})
