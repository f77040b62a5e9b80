import type { Audience, Bound, Group } from "./Bound.ts"
import { clockBounds } from "./clockBounds.ts"
import { inboundBounds } from "./inboundBounds.ts"
import { productBounds } from "./productBounds.ts"
import { requestLogBounds } from "./requestLogBounds.ts"
import { securityBounds } from "./securityBounds.ts"
import { sourceBounds } from "./sourceBounds.ts"
import { templateBounds } from "./templateBounds.ts"
import { testModeBounds } from "./testModeBounds.ts"
import { toolBounds } from "./toolBounds.ts"
import { read } from "../source.ts"

export const GROUPS: ReadonlyArray<Group> = [
  ...productBounds,
  inboundBounds,
  sourceBounds,
  templateBounds,
  ...testModeBounds,
  clockBounds,
  ...toolBounds,
  ...securityBounds,
  requestLogBounds,
]

const declared = (constant: string, path: string): string => {
  const [, value] =
    new RegExp(`^(?:export )?const ${constant}(?:: [^=\\n]+)? =\\s*([^\\n]+)$`, "mu").exec(read(path).text) ?? []
  if (value === undefined) throw new Error(`${path} declares no ${constant}`)
  return value.replace(/\s*\/\/.*$/u, "")
}

const KIB = 1024
const inBytes = (bytes: number): string =>
  bytes % KIB ** 2 === 0 ? `${bytes / KIB ** 2} MiB` : bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} bytes`

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const inTime = (ms: number): string => {
  if (ms % DAY === 0 && ms >= 5 * DAY) return `${ms / DAY} days`
  if (ms % HOUR === 0) return `${ms / HOUR} h`
  if (ms % MINUTE === 0 && ms > MINUTE) return `${ms / MINUTE} min`
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`
}

const MILLIS = { millis: 1, seconds: 1_000, minutes: MINUTE, hours: HOUR, days: DAY } as const
const TIMESTAMP: Readonly<Record<string, number>> = {
  "Timestamp.SECOND": 1_000,
  "Timestamp.MINUTE": MINUTE,
  "Timestamp.HOUR": HOUR,
  "Timestamp.DAY": DAY,
}

/** A quantity with its unit, for people. */
export const spoken = (constant: string, value: string): string => {
  const [, unit, amount] = /^Duration\.(millis|seconds|minutes|hours|days)\(([\d_]+)\)$/u.exec(value) ?? []
  if (unit !== undefined && amount !== undefined)
    return inTime(Number(amount.replaceAll("_", "")) * MILLIS[unit as keyof typeof MILLIS])
  const factors = value
    .split("*")
    .map((factor) => TIMESTAMP[factor.trim()] ?? Number(factor.trim().replaceAll("_", "")))
  const number = factors.reduce((product, factor) => product * factor, 1)
  if (Number.isNaN(number)) throw new Error(`${constant} is no quantity: ${value}`)
  if (/_MS(?:_|$)/u.test(constant)) return inTime(number)
  if (constant.endsWith("_SECONDS")) return inTime(number * 1_000)
  if (constant.endsWith("_MB")) return inBytes(number * KIB ** 2)
  if (/BYTES|SIZE_LIMIT|HEADERS_LIMIT/u.test(constant)) return inBytes(number)
  const [, last = ""] = /_(DAYS|HOURS|MONTHS|CHARS|OCTETS)$/u.exec(constant) ?? []
  const plain = number.toLocaleString("en-US")
  return last === "" ? plain : `${plain} ${last === "CHARS" ? "characters" : last.toLowerCase()}`
}

/** Value of a bound, as the code has it. Throws where the code does not declare it. */
export const valueOf = ({ constant, path, value }: Bound): string => {
  if (value === undefined) return spoken(constant, declared(constant, path))
  if (!read(path).text.includes(`const ${constant}:`)) throw new Error(`${path} declares no ${constant}`)
  return value
}

export const BEGIN_LIMITS = "<!-- limits, written by npm run generate -->"
export const END_LIMITS = "<!-- end of the limits -->"

const limitsOf = (audience: Audience): ReadonlyArray<string> =>
  GROUPS.flatMap(({ bounds, title }) => {
    const rows = bounds.filter((bound) => bound.audience === audience)
    if (rows.length === 0) return []
    return [`| **${title}** | | |`, ...rows.map((bound) => `| ${bound.what} | ${valueOf(bound)} | ${bound.beyond} |`)]
  })

const HEADER = ["", "| limit | value | when it is exceeded |", "|---|---|---|"]

/** The generated part of docs/limits.md: what a customer or an operator can reach. */
export const writtenLimits = (): string =>
  [
    "## Limits for customers",
    ...HEADER,
    ...limitsOf("customer"),
    "",
    "## Limits for operators",
    ...HEADER,
    ...limitsOf("operator"),
    "",
  ].join("\n")
