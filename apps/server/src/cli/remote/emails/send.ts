import { Effect, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import * as DataCommand from "../../DataCommand.ts"
import * as Output from "../../Output.ts"
import { MARK, StandardInput } from "../../StandardInput.ts"
import type { MessageWithBody } from "@waybill/client/Waybill"
import { ApiClient, attempt, call } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import * as Reading from "../templates/Reading.ts"
import * as Options from "../../Options.ts"

const MAX_RECIPIENTS = 50
const MAX_REPEATS = 100

const several = (name: string, description: string) => Options.several(name, description, MAX_RECIPIENTS)

/** Headers of the form `Name: value`. */
const header = Options.several("header", "Custom header `Name: value`", MAX_REPEATS).pipe(
  Flag.mapEffect((lines) =>
    Effect.forEach(lines, (value) => {
      const [, name = "", text = ""] = /^([^\s:]+):\s*(.*)$/u.exec(value) ?? []
      return name === ""
        ? Effect.fail(new CliError.InvalidValue({ option: "header", value, expected: "`Name: value`", kind: "flag" }))
        : Effect.succeed([name, text] as const)
    }),
  ),
)

/** Reads a body from a file, or from standard input for `-`. */
const bodyOf = (file: Option.Option<string>) =>
  Option.isNone(file)
    ? Effect.succeedNone
    : Effect.flatMap(StandardInput, (read) =>
        Effect.asSome(attempt(() => (file.value === MARK ? read(Infinity) : fs.readFile(file.value, "utf8")))),
      )

export const send = DataCommand.command(
  {
    from: Options.text("from", "Sender, such as `Acme <hello@acme.test>`; that of the template by default"),
    to: Options.several("to", "Recipient", MAX_RECIPIENTS, 1),
    cc: several("cc", "Recipient of a copy"),
    bcc: several("bcc", "Hidden recipient"),
    replyTo: several("reply-to", "Address for replies"),
    subject: Options.text("subject", "Subject; that of the template by default"),
    template: Options.text("template", "Alias of a template, which is not its name, or its id, tpl_…"),
    variables: Reading.variables,
    locale: Reading.locale,
    text: Options.text("text", "Plain text body"),
    textFile: Options.text("text-file", "File with the plain text body; - is standard input"),
    html: Options.text("html", "HTML body"),
    htmlFile: Options.text("html-file", "File with the HTML body; - is standard input"),
    attach: Options.several("attach", "File to attach", MAX_REPEATS),
    tag: several("tag", "Label for filtering"),
    metadata: Flags.pairs("metadata", "Metadata for identifying, `name=value`", MAX_REPEATS),
    header,
    at: Flags.time("at", "When to send it", "future"),
    idempotencyKey: Options.text("idempotency-key", "Send at most once with this key"),
  },
  function* (flags) {
    const { at, attach, bcc, cc, header, json, metadata, replyTo, tag, to } = flags
    const template = Option.map(flags.template, (name) => ({
      ...(name.startsWith("tpl_") ? { id: name } : { alias: name }),
      ...Flags.present({ variables: flags.variables, locale: flags.locale }),
    }))
    const isPlain = Option.isNone(template)
    const missing = (["from", "subject"] as const).filter((option) => isPlain && Option.isNone(flags[option]))
    if (missing.length > 0) {
      const errors = missing.map((option) => new CliError.MissingOption({ option }))
      return yield* new CliError.ShowHelp({ commandPath: ["waybill", "send"], errors })
    }
    const body = {
      from: flags.from,
      subject: flags.subject,
      template,
      text: Option.isSome(flags.text) ? flags.text : yield* bodyOf(flags.textFile),
      html: Option.isSome(flags.html) ? flags.html : yield* bodyOf(flags.htmlFile),
      scheduled_at: Option.map(at, (time) => time.toISOString()),
    }
    const message = {
      to,
      ...Flags.present(body),
      ...(cc.length === 0 ? {} : { cc }),
      ...(bcc.length === 0 ? {} : { bcc }),
      ...(replyTo.length === 0 ? {} : { reply_to: replyTo }),
      ...(tag.length === 0 ? {} : { tags: tag }),
      ...(metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) }),
      ...(header.length === 0 ? {} : { headers: Object.fromEntries(header) }),
      ...(attach.length === 0 ? {} : { attachments: attach.map((path) => ({ path })) }),
    }
    const options = Flags.present({ idempotencyKey: flags.idempotencyKey })
    yield* Output.printOne(
      { ...(yield* call((client) => client.emails.send(message as MessageWithBody, options))) },
      { json },
    )
  },
)
  .with(
    Command.withExamples([
      {
        command:
          'waybill send --from "Acme <hello@acme.test>" --to ana@example.org --subject "Your receipt" --text "Thank you."',
      },
      { command: "waybill send --to ana@example.org --template receipt --variables @values.json --locale de" },
    ]),
  )
  .with(Command.provide(ApiClient.layer))
