import { totp } from "../../../server/signIn/house.ts"
import { failedExpectations, type Scenario } from "../../harness/Scenario.ts"
import { member, PASSWORD } from "./member.ts"

const STEP_MS = 30_000

/** Replays a code of the second factor, as an onlooker who read the code could. */
export const codeReplay: Scenario = {
  name: "replay of a TOTP code",
  load: "the same code for two sign-ins, and the code of the enrolment",
  run: async ({ dice, from, target }) => {
    const { email, page } = await member(target, `totp-${dice.text(8)}`, from(0))
    const enabled = await page.request("POST", "/auth/two-factor/enable", { password: PASSWORD })
    const uri = String(enabled.json?.totpURI)
    const enrolled = totp(uri, Date.now())
    const first = await page.request("POST", "/auth/two-factor/verify-totp", { code: enrolled })
    let client = 1
    const signIn = async (code: string) => {
      const other = target.visitor(from(client++))
      await other.request("POST", "/auth/sign-in/email", { email, password: PASSWORD })
      return (await other.request("POST", "/auth/two-factor/verify-totp", { code })).status
    }
    const enrolledAgain = await signIn(enrolled)
    const next = totp(uri, Date.now() + STEP_MS)
    const firstUse = await signIn(next)
    const secondUse = await signIn(next)
    return {
      summary: `enrolment ${first.status}, its code again ${enrolledAgain}; the next code ${firstUse}, again ${secondUse}`,
      failures: failedExpectations([
        [first.status === 200, "the second factor could not be set up"],
        [enrolledAgain !== 200, "the code of the enrolment was accepted twice"],
        [secondUse !== 200 || firstUse !== 200, "a code was accepted twice"],
      ]),
    }
  },
}
