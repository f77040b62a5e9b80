import { runToEnd } from "../../../support/process/service.ts"
import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"

/** Sequences that move the cursor, set the window title, end a line or reverse the reading direction. */
const ESCAPES = [
  "\u001b]0;owned\u0007",
  "\u001b[2J",
  "\u009b31m",
  "\u0085",
  "\u2028",
  "\u202egnp.exe",
  "\u2066",
  "\u007f",
]
// oxlint-disable-next-line no-control-regex
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Sends names, subjects and tags that contain control sequences of terminals. */
export const terminal: Scenario = {
  name: "terminal escapes",
  load: "names of keys, members and webhooks, subjects and tags with escape sequences, and what the CLI prints",
  run: async ({ dice, size, target }) => {
    const { key } = target.owner
    const nameStatuses: Array<number> = []
    for (const escape of ESCAPES.slice(0, size(4, ESCAPES.length))) {
      const name = `x${escape}y`
      const email = `escape-${dice.text(8)}@example.org`
      const post = (path: string, body: unknown) => sendRequest(target.http, "POST", path, { key, body })
      nameStatuses.push((await post("/v1/members", { email, role: "viewer", name })).status)
      nameStatuses.push((await post("/v1/api-keys", { name, scopes: ["stats:read"] })).status)
      // Mail may contain these characters; the command line must escape them.
      await post("/v1/email/send", {
        from: "hi@acme.test",
        to: "ana@example.org",
        subject: name,
        text: "x",
        tags: [name],
      })
    }
    const env = target.settings
    const lists = size(1, 3)
    const commands = [
      ["users", "list"],
      ["keys", "list"],
      ["accounts", "list"],
    ].slice(0, lists)
    const printed = await Promise.all(commands.map((args) => runToEnd(args, env)))
    const raw = commands.filter((_, nth) => RAW.test((printed[nth]?.output ?? "").replaceAll("\n", "")))
    return {
      summary: `names ${summarize(nameStatuses)}; ${raw.length} of ${commands.length} tables raw`,
      failures: failedExpectations([
        [nameStatuses.every((status) => status === 400), "a control character was taken in a name"],
        [raw.length === 0, `control characters reach the terminal by ${raw.map((args) => args.join(" ")).join(", ")}`],
      ]),
    }
  },
}
