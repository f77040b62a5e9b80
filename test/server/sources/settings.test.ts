import * as SiteRules from "@waybill/mail/site/SiteRules"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import { ConfigProvider, Effect, Option } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Settings from "../../../apps/server/src/settings/Settings.ts"
import { addFromSetting } from "../../../apps/server/src/sources/addFromSetting.ts"
import { readSiteRules } from "../../../apps/server/src/sources/readSiteRules.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as Database from "../../support/postgres/Database.ts"

const load = (env: Readonly<Record<string, string>>) =>
  Settings.load.pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })))

describe("settings of source addresses", () => {
  it.effect("name addresses with their names, and blocklists by name or all large ones", function* () {
    const { blocklists, sourceAddresses } = yield* load({
      SOURCE_ADDRESSES: "192.0.2.1=Mail.Example.Org, 2001:DB8::1",
      BLOCKLISTS: "bl.example.net, large, bl.spamcop.net",
    })
    assert.deepStrictEqual(sourceAddresses, [
      { address: "192.0.2.1", name: "mail.example.org" },
      { address: "2001:db8::1", name: null },
    ])
    assert.deepStrictEqual([blocklists[0], blocklists.includes("zen.spamhaus.org")], ["bl.example.net", true])
    assert.strictEqual(new Set(blocklists).size, blocklists.length)
    assert.deepStrictEqual((yield* load({})).blocklists, [])
  })

  it.effect("are refused with the variable's name", function* () {
    for (const [name, value] of [
      ["SOURCE_ADDRESSES", "192.0.2"],
      ["SOURCE_ADDRESSES", "192.0.2.1=localhost"],
      ["BLOCKLISTS", "no list"],
    ] as const) {
      const problem = yield* Effect.flip(load({ [name]: value }))
      assert.match(problem.message, new RegExp(`^${name} is invalid: `, "u"))
      assert.strictEqual(problem.problems.length, 1)
    }
  })
})

describe("a file of rules", () => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-rules-"))
  const fileOf = (text: string) => {
    const file = join(folder, "rules.json")
    writeFileSync(file, text)
    return Option.some(file)
  }

  it.effect("comes before the built-in rules", function* () {
    const own = { suffix: "google.com", connections: 30, messages: 100 }
    const rules = yield* readSiteRules(fileOf(JSON.stringify({ rules: [own] })))
    assert.deepStrictEqual(rules, [own, ...SiteRules.RULES])
    assert.strictEqual(yield* readSiteRules(Option.none()), SiteRules.RULES)
  })

  it.effect("is refused whole with what is wrong in one line", function* () {
    for (const text of ["{", "[]", `{"rules":[{"suffix":"a.test","connections":1}]}`, `{"rules":[],"more":1}`]) {
      const { message } = yield* Effect.flip(readSiteRules(fileOf(text)))
      assert.match(message, /^SITE_RULES: .+rules\.json is invalid: .+$/u)
    }
    const absent = yield* Effect.flip(readSiteRules(Option.some(NOWHERE)))
    assert.match(absent.message, /which cannot be read\.$/u)
  })
})

layer(Database.layerFresh)("SOURCE_ADDRESSES", (it) => {
  it.effect("adds new addresses to the default pool, and changes no known one", function* () {
    yield* addFromSetting([{ address: "192.0.2.1", name: "one.acme.test" }])
    yield* SourceAddresses.change("192.0.2.1", { ehlo: "changed.acme.test" })
    yield* addFromSetting([
      { address: "192.0.2.1", name: "one.acme.test" },
      { address: "192.0.2.2", name: null },
    ])
    assert.deepStrictEqual(
      (yield* SourceAddresses.list()).map(({ address, ehlo, pool }) => [address, ehlo, pool]),
      [
        ["192.0.2.1", "changed.acme.test", "default"],
        ["192.0.2.2", null, "default"],
      ],
    )
  })
})
