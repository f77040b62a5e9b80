#!/usr/bin/env node
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { keysOfLog } from "./keysOfLog.ts"
import { type VerifyOptions, type ReceiptVerdict, verify } from "./verify.ts"

const USAGE = `Usage: waybill-verify receipt.json [options]    (- reads standard input)
  --key KEY        key of the log that must have signed (name+id+base64), or a saved /.well-known/waybill-log.json;
                   repeat it for several
  --origin ORIGIN  name of the log
  --witness KEY    key of a witness that must have signed; repeat it for several
  --json           write the result as JSON
Exits with 0 if the receipt holds, 1 if it does not, 2 if it could not be checked.
`
const MARKS = { passed: "ok      ", warning: "warning ", failed: "FAILED  ", skipped: "skipped " }

const keysOf = (given: string): NonNullable<VerifyOptions["keys"]> =>
  given.includes("+") ? [given] : keysOfLog(readFileSync(given, "utf8"))

const report = ({ holds, steps }: ReceiptVerdict): string => {
  const lines = steps.map(({ result, title, words }) => `${MARKS[result]}${title}. ${words}\n`)
  return `${lines.join("")}${holds ? "The receipt holds" : "The receipt does not hold"}.\n`
}

const run = async (): Promise<number> => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: "string", multiple: true },
      origin: { type: "string" },
      witness: { type: "string", multiple: true },
      json: { type: "boolean" },
      help: { type: "boolean" },
    },
  })
  const [file, ...others] = positionals
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  if (file === undefined || others.length > 0) throw new Error(`one receipt is needed\n${USAGE}`)
  const verdict = await verify(readFileSync(file === "-" ? 0 : file), {
    keys: (values.key ?? []).flatMap(keysOf),
    witnesses: values.witness ?? [],
    ...(values.origin === undefined ? {} : { origin: values.origin }),
  })
  process.stdout.write(values.json === true ? `${JSON.stringify(verdict, undefined, 2)}\n` : report(verdict))
  return verdict.holds ? 0 : 1
}

run().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`waybill-verify: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 2
  },
)
