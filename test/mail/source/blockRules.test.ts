import * as Reply from "@waybill/mail/reply/Reply"
import type * as ReplyClass from "@waybill/mail/reply/ReplyClass"
import * as BlockRules from "@waybill/mail/source/BlockRules"
import { rankSources } from "@waybill/mail/source/rankSources"
import * as SourceText from "@waybill/mail/source/SourceText"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import * as SiteRules from "@waybill/mail/site/SiteRules"
import { Option, Result, Schema } from "effect"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"

interface Sample {
  readonly server: string
  readonly stage: ReplyClass.Stage
  readonly reply: string
}

const read = (name: string): ReadonlyArray<Sample> =>
  JSON.parse(readFileSync(new URL(`../../fixtures/replies/${name}`, import.meta.url), "utf8")) as ReadonlyArray<Sample>

const ruleOf = ({ reply, stage }: Sample): string | undefined => {
  const parsed = Reply.parse(reply, stage)
  if (parsed === undefined) return undefined
  const { code, enhancedCode, text } = parsed
  return BlockRules.find({ code, enhanced_code: enhancedCode ?? null, response: text })?.id
}

/** The sample replies that refuse an address: server, code and the rule that finds it. */
const BLOCKS: ReadonlyArray<string> = [
  "AOL 521 aol-connection",
  "Barracuda 554 list",
  "Cloudmark at an ISP 554 cloudmark",
  "Comcast 554 list",
  "Exchange Online 550 microsoft-banned",
  "Exchange Online 550 microsoft-banned",
  "GMX 554 gmx",
  "GMX 554 reverse-dns",
  "Gmail 421 gmail-reputation",
  "Gmail 550 gmail-reputation-refused",
  "Gmail 550 reverse-dns",
  "Outlook.com 451 microsoft-reputation",
  "Outlook.com 550 microsoft-network",
  "Postfix 450 reverse-dns",
  "Proofpoint 554 proofpoint",
  "SpamCop 550 list",
  "Spamhaus at Postfix 554 list",
  "T-Online 554 t-online",
  "Yahoo 421 yahoo-permanent",
  "Yahoo 553 yahoo-list",
  "an RBL, for now 450 list",
  "iCloud 554 icloud",
]

describe("replies that refuse a source address", () => {
  it("are known among all sample replies, and no reply about a message or a recipient is", () => {
    const found = read("samples.json").flatMap((sample) => {
      const rule = ruleOf(sample)
      return rule === undefined ? [] : [`${sample.server} ${sample.reply.slice(0, 3)} ${rule}`]
    })
    assert.deepStrictEqual(found.toSorted(), BLOCKS)
  })

  for (const sample of read("blocks.json") as ReadonlyArray<Sample & { readonly rule: string | null }>)
    it(`${sample.server}: ${sample.reply.slice(0, 60)}`, () => {
      assert.strictEqual(ruleOf(sample) ?? null, sample.rule)
    })
})

describe("source addresses", () => {
  const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((address) => ({ address }))
  const first = (key: string, from = addresses) => rankSources(from, key)[0]?.address ?? ""
  const keys = Array.from({ length: 3_000 }, (_, nth) => `em_${nth}`)

  it("share messages evenly, and keep theirs when another is added", () => {
    const counts = Map.groupBy(keys, (key) => first(key))
    for (const { address } of addresses) assert.closeTo(counts.get(address)?.length ?? 0, 1_000, 120)
    const more = [...addresses, { address: "192.0.2.4" }]
    for (const key of keys) if (first(key, more) !== "192.0.2.4") assert.strictEqual(first(key, more), first(key))
  })

  it("are written in one way, and only if a host can send from them", () => {
    const parsed = (text: string) => Result.getOrElse(SourceText.parse(text), (problem) => problem)
    assert.deepStrictEqual(parsed("192.0.2.1"), { address: "192.0.2.1", name: null })
    assert.deepStrictEqual(parsed("2001:DB8:0::1=Mail.Example.Org"), {
      address: "2001:db8::1",
      name: "mail.example.org",
    })
    for (const text of [
      "",
      "127.1",
      "2130706433",
      "0.0.0.0",
      "::",
      "224.0.0.1",
      "::ffff:192.0.2.1",
      "fe80::1%eth0",
      "mail",
    ])
      assert.isString(parsed(text), text)
    assert.strictEqual(parsed("192.0.2.1=nameonly"), "nameonly is not a host name such as mail.example.org")
  })
})

describe("a warm-up plan", () => {
  it("has a number for each provider and day, none before it begins, and no limit after its end", () => {
    assert.strictEqual(WarmUp.limitOn(WarmUp.STANDARD, 1, "google.com"), 50)
    assert.strictEqual(WarmUp.limitOn(WarmUp.STANDARD, 1, "gmx.net"), 25)
    assert.strictEqual(WarmUp.limitOn(WarmUp.STANDARD, 0, "google.com"), 0)
    assert.strictEqual(WarmUp.limitOn(WarmUp.STANDARD, 21, "google.com"), 200_000)
    assert.strictEqual(WarmUp.limitOn(WarmUp.STANDARD, 22, "google.com"), undefined)
    const decode = Schema.decodeUnknownOption(WarmUp.Plan, { onExcessProperty: "error" })
    assert.isTrue(Option.isSome(decode(WarmUp.STANDARD)))
    for (const days of [[], [{}], [{ "google.com": 1 }], [{ "*": -1 }], [{ "*": 1.5 }], [{ "*": 1, "Google Com": 2 }]])
      assert.isTrue(Option.isNone(decode({ days })), JSON.stringify(days))
  })
})

describe("docs/operating/source-addresses.md", () => {
  const text = readFileSync(new URL("../../../docs/operating/source-addresses.md", import.meta.url), "utf8")

  it("has the numbers of the standard plan and the names of all providers", () => {
    const rows = [...text.matchAll(/^\| mails to each provider \|(.+)\|$/gmu)].flatMap(([, cells = ""]) =>
      cells.split("|"),
    )
    assert.deepStrictEqual(
      rows.map((cell) => Number(cell.replaceAll(",", ""))),
      [...WarmUp.STANDARD_MAILS],
    )
    for (const provider of SiteRules.providersOf(SiteRules.RULES)) assert.include(text, `\`${provider}\``)
  })
})

describe("rules of an operator", () => {
  it("come before the built-in ones, and name the provider for all servers of a domain only", () => {
    const { rules } = Schema.decodeUnknownSync(SiteRules.RulesFile)({
      rules: [{ suffix: "google.com", key: "gmail", connections: 40, messages: 200 }],
    })
    const all = [...rules, ...SiteRules.RULES]
    const google = SiteRules.siteOf(["mx1.google.com", "mx2.google.com"], all)
    assert.deepInclude(google, { key: "gmail", provider: "gmail", connections: 40, messages: 200 })
    const mixed = SiteRules.siteOf(["mx1.google.com", "mx.example.org"], all)
    assert.strictEqual(mixed.connections, SiteRules.DEFAULT_CONNECTIONS)
    assert.isUndefined(mixed.provider)
    const wrong = { rules: [{ suffix: "google.com", connections: 0, messages: 1 }] }
    assert.isFalse(Schema.is(SiteRules.RulesFile)(wrong))
  })
})
