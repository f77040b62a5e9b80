import * as Literal from "@waybill/api/Literal"
import { instance } from "../api/instance.ts"
import type { Example } from "../ui/controls/Code.tsx"

interface Sample {
  /** Alias or id. */
  readonly name: string
  /** Undefined if the template has its own. */
  readonly from: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

/** Returns code that sends a template, with values that fit its schema. */
export const samplesOf = ({ from, name, variables }: Sample): ReadonlyArray<Example> => {
  const choice = { [name.startsWith("tpl_") ? "id" : "alias"]: name, variables }
  const message = { ...(from === undefined ? {} : { from }), to: "ana@example.org", template: choice }
  const base = instance.url
  return [
    {
      name: "curl",
      code: [
        `curl ${base}/v1/email/send \\`,
        `  -H "Authorization: Bearer $WAYBILL_KEY" \\`,
        `  -H "Content-Type: application/json" \\`,
        `  -d '${JSON.stringify(message, null, 2).replaceAll("'", "'\\''")}'`,
      ].join("\n"),
    },
    {
      name: "TypeScript",
      code: [
        `import { Waybill } from "@waybill/client"`,
        ``,
        `const waybill = new Waybill(process.env.WAYBILL_KEY, { baseUrl: "${base}" })`,
        `await waybill.emails.send(${Literal.write(Literal.TYPESCRIPT, message)})`,
      ].join("\n"),
    },
    {
      name: "Python",
      code: [
        `from waybill import Waybill`,
        ``,
        `waybill = Waybill(base_url="${base}")  # WAYBILL_KEY`,
        `waybill.emails.send(${Literal.write(Literal.PYTHON, message)})`,
      ].join("\n"),
    },
    {
      name: "PHP",
      code: [
        `$waybill = new Waybill\\Client(baseUrl: "${base}"); // WAYBILL_KEY`,
        `$waybill->emails->send(${Literal.write(Literal.PHP, message)});`,
      ].join("\n"),
    },
    {
      name: "Ruby",
      code: [
        `require "waybill"`,
        ``,
        `waybill = Waybill::Client.new(base_url: "${base}") # WAYBILL_KEY`,
        `waybill.emails.send(${Literal.write(Literal.RUBY, message)})`,
      ].join("\n"),
    },
  ]
}
