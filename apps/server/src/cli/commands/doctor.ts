import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as Text from "@waybill/domain/values/Text"
import { ConfigProvider, Effect, Result, Schema } from "effect"
import { Flag } from "effect/cli"
import { CheckDiffers } from "../../process/CommandRefused.ts"
import * as InstanceKeys from "../../installation/InstanceKeys.ts"
import * as RunningSettings from "../../installation/RunningSettings.ts"
import type * as Finding from "../../operate/doctor/Finding.ts"
import * as Settings from "../../settings/Settings.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as OutputStyle from "../OutputStyle.ts"
import * as TerminalTable from "../TerminalTable.ts"

const SMTP_PORT = 25
const MAX_TARGETS = 10

const parseTarget = (text: string) => {
  const url = URL.parse(`smtp://${text}`)
  if (url === null || url.hostname === "" || url.host.length < text.length - ":25".length) {
    return Result.fail("is not a server such as mx.example.org or 192.0.2.1:25")
  }
  const host = url.hostname.replace(/^\[|\]$/gu, "")
  return Result.succeed({ host, port: url.port === "" ? SMTP_PORT : Number(url.port) })
}

const Target = Text.parsed(
  Schema.Struct({ host: Schema.String, port: Schema.Int }),
  { description: "A mail server, with a port other than 25 if needed", examples: ["mx.example.org"] },
  parseTarget,
  ({ host, port }) => `${host}:${port}`,
)

export const doctor = DataCommand.command(
  {
    direct: Options.isSet("direct", "Check direct delivery even if no domain uses it"),
    target: Flag.String("target").pipe(
      Flag.withDescription("Check port 25 with this server; repeat for several"),
      Flag.withSchema(Target),
      Flag.between(0, MAX_TARGETS),
    ),
  },
  function* ({ direct, json, target }) {
    const { lines, provider } = yield* RunningSettings.ofService
    for (const line of lines) yield* Output.complain(line)
    const settings = yield* Effect.provideService(Settings.load, ConfigProvider.ConfigProvider, provider)
    // Loaded by this command only.
    const { examine } = yield* Effect.promise(() => import("../../operate/doctor/examine.ts"))
    const findings = yield* Effect.provide(
      examine(settings, { direct, targets: target }),
      InstanceKeys.cellKeysHere(settings),
    )
    const broken = findings.filter(({ status }) => status === "broken")
    yield* json
      ? Output.printJson({ healthy: broken.length === 0, findings }, 2)
      : Effect.forEach(findings, sayFinding, { discard: true })
    if (broken.length > 0) {
      return yield* new CheckDiffers({ message: `broken: ${broken.map(({ check }) => check).join(", ")}` })
    }
  },
)

const STATUS_WIDTH = "skipped".length
const CHECK_WIDTH = "dmarc reports".length

const sayFinding = Effect.fnUntraced(function* ({ check, fix, result, status }: Finding.Finding) {
  const style = yield* OutputStyle.current
  const state = OutputStyle.coloured(status.padEnd(STATUS_WIDTH), OutputStyle.colourOf(status), style)
  const indent = " ".repeat(STATUS_WIDTH + CHECK_WIDTH + 4)
  const lines = [`${check.padEnd(CHECK_WIDTH)}  ${result}`, ...(fix === null ? [] : [fix])].map(HiddenCharacters.escape)
  const text = lines.map((line, nth) => (nth === 0 ? `${state}  ${line}` : `${indent}${line}`)).join("\n")
  yield* Output.sayColoured(style.columns === undefined ? text : TerminalTable.folded(text, style.columns))
})
