import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"
import { member } from "./member.ts"

/** Twice the limit of ten per minute, because a minute may end in between. */
const MAX_ANSWERED = 20

/** Guesses a user's password from a browser that was left signed in. */
export const passwordGuesses: Scenario = {
  name: "guesses at verify-password",
  load: "wrong passwords within a session, as fast as they are answered",
  run: async ({ dice, from, size, target }) => {
    const { page } = await member(target, `guess-${dice.text(8)}`, from(0))
    const statuses: Array<number> = []
    for (let nth = 0; nth < size(40, 130); nth++) {
      const body = { password: `not the password ${dice.text(8)}` }
      statuses.push((await page.request("POST", "/auth/verify-password", body)).status)
    }
    const answeredGuesses = statuses.filter((status) => status === 400 || status === 401 || status === 200).length
    return {
      summary: summarize(statuses),
      failures: failedExpectations([
        [answeredGuesses <= MAX_ANSWERED, `${answeredGuesses} guesses were answered, bound ${MAX_ANSWERED}`],
      ]),
    }
  },
}
