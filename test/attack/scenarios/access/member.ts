import { sendRequest, type Browser } from "../../harness/http.ts"
import type { Target } from "../../harness/Target.ts"

export const PASSWORD = "correct horse battery"

export interface Member {
  readonly email: string
  readonly id: string
  readonly page: Browser
}

/** Creates a member of the first account who has set a password and signed in. */
export const member = async (target: Target, name: string, from?: string): Promise<Member> => {
  const email = `${name}@example.org`
  const { key } = target.owner
  const invited = await sendRequest(target.http, "POST", "/v1/members", { key, body: { email, role: "viewer" } })
  const token = new URL(String(invited.json?.url)).hash.slice(1)
  const page = target.visitor(from)
  const set = await page.request("POST", "/auth/reset-password", { token, newPassword: PASSWORD })
  const signedIn = await page.request("POST", "/auth/sign-in/email", { email, password: PASSWORD })
  if (set.status !== 200 || signedIn.status !== 200)
    throw new Error(`no member: ${invited.status}, ${set.status}, ${signedIn.status}`)
  return { email, id: String(invited.json.member.id), page }
}
