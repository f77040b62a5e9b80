import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Calls from "../../server/providers/calls.ts"
import type { Instance } from "./Instance.ts"

/** Time between an event at the provider and its call. */
const LAG_MS = 125_000

/** Adds a provider that has reported an event of an email late and was refused once, and one that has reported nothing. */
export const seedProviders = async ({ request, runCommand }: Instance): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-providers-"))
  const file = join(folder, "key")
  writeFileSync(file, Calls.MAILGUN_KEY)
  const added = await runCommand("providers", "add", "mailgun", "--name", "Shop", "--secret-file", file, "--json")
  rmSync(folder, { recursive: true })
  await runCommand("providers", "add", "postmark", "--name", "Newsletter")
  const { url } = JSON.parse(added.slice(added.indexOf("{"))) as { readonly url: string }
  const [email] = (await request("GET", "/email/logs?status=delivered&limit=1")).json.data
  const now = Date.now()
  const body = Calls.BODIES.mailgun({
    kind: "opened",
    to: email.to[0],
    messageId: `<${email.id}@acme.test>`,
    ref: "",
    id: "opened-late",
    at: now - LAG_MS,
  })
  for (const [at, status] of [
    [now, 200],
    // A signature of yesterday, as somebody has who repeats a call.
    [now - 24 * 3_600_000, 401],
  ] as const) {
    const { headers, raw } = Calls.SIGNERS.mailgun(body, at)
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: raw,
    })
    if (response.status !== status) throw new Error(`${response.status}: ${await response.text()}`)
  }
}
