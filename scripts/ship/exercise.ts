import { Waybill } from "../../packages/client/src/Waybill.ts"
import { demand, until } from "./Shell.ts"

/** Whether the service is ready. A refused connection means not yet. */
export const isReady = async (base: string): Promise<true | undefined> => {
  const answer = await fetch(`${base}/readyz`).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.status === 200 ? true : undefined
}

/**
 * Runs the first steps of a new user: creates an account and a key on the command line, then sends a mail and reads it.
 */
export const exercise = async (
  base: string,
  waybill: (...args: ReadonlyArray<string>) => Promise<string>,
): Promise<void> => {
  const account = JSON.parse(await waybill("accounts", "create", "Ship", "--json")) as { readonly id: string }
  const made = await waybill("keys", "create", "--account", account.id, "ship", "--scope", "admin", "--json")
  const client = new Waybill((JSON.parse(made) as { readonly key: string }).key, { baseUrl: base })
  await client.domains.add("ship.test")
  await until("the domain is verified", 30, async () =>
    (await client.domains.verify("ship.test")).status === "verified" ? true : undefined,
  )
  const to = "ana@example.org"
  const { id } = await client.emails.send({ from: "Ship <hello@ship.test>", to, subject: "Shipped", text: "It works." })
  const mail = await client.sandbox.waitFor(to, 30)
  demand(mail?.subject === "Shipped" && mail.text?.trim() === "It works.", `the mail in the sandbox is not ${id}`)
  await until("the mail is delivered", 30, async () =>
    (await client.logs.get(id)).status === "delivered" ? true : undefined,
  )
}
