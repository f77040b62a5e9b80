import * as TransportName from "../../apps/server/src/settings/TransportName.ts"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"

const CHART = "deploy/helm/waybill"

const settings = [...readFileSync("docs/configuration.md", "utf8").matchAll(/^\| `([A-Z_]+)`( \(secret\))? \|/gmu)].map(
  ([, name = "", secret]) => ({ name, isSecret: secret !== undefined }),
)

/** Settings that the chart decides, or that a pod without an embedded Postgres has no use for. */
const FIXED = [
  "BASE_URL",
  "HOST",
  "METRICS_HOST",
  "METRICS_PORT",
  "PORT",
  "MAIL_PORT",
  "ROLES",
  "SMTPS_PORT",
  "SMTP_PORT",
  "SMTP_TLS_CERT",
  "SMTP_TLS_KEY",
  "WAYBILL_DATA",
  "WAYBILL_POSTGRES",
]

const { properties } = JSON.parse(readFileSync(`${CHART}/values.schema.json`, "utf8")) as {
  readonly properties: Readonly<Record<string, Schema>>
}
interface Schema {
  readonly propertyNames?: { readonly enum: ReadonlyArray<string> }
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly enum?: ReadonlyArray<unknown>
}

describe("settings of the Helm chart", () => {
  it("`settings` and `secret.values` accept every setting: values.schema.json lists a new one", () => {
    assert.isAbove(settings.length, 30)
    const names = (isSecret: boolean) =>
      settings.flatMap((each) => (each.isSecret === isSecret && !FIXED.includes(each.name) ? [each.name] : []))
    assert.sameMembers([...(properties["settings"]?.propertyNames?.enum ?? [])], names(false))
    assert.sameMembers([...(properties["secret"]?.properties?.["values"]?.propertyNames?.enum ?? [])], names(true))
  })

  it("the chart has the alerts of the documentation, and the words of a setting that has only some", () => {
    const alerts = (folder: string) => readFileSync(`${folder}/alerts.yaml`, "utf8")
    assert.strictEqual(alerts(CHART), alerts("docs/operating"), `copy docs/operating/alerts.yaml to ${CHART}`)
    const words = properties["settings"]?.properties?.["TRANSPORT"]?.enum
    assert.deepStrictEqual(words, TransportName.NAMES)
  })

  it("templates set no variable that is not a setting", () => {
    const text = readdirSync(`${CHART}/templates`)
      .map((file) => readFileSync(`${CHART}/templates/${file}`, "utf8"))
      .join("\n")
    const set = [...text.matchAll(/^\s*(?:- name: )?([A-Z][A-Z_]+):? |"([A-Z][A-Z_]{3,})"/gmu)].map(
      ([, plain, quoted]) => plain ?? quoted ?? "",
    )
    assert.includeMembers(set, ["BASE_URL", "METRICS_PORT", "SMTP_TLS_CERT", "MAIL_PORT"])
    const known = settings.map(({ name }) => name)
    assert.deepStrictEqual(
      set.filter((name) => !known.includes(name)),
      [],
    )
  })

  it("docs/operating/kubernetes.md names every group of values, and the chart has the version of the release", () => {
    const docs = readFileSync("docs/operating/kubernetes.md", "utf8")
    const named = [...docs.matchAll(/^\| (`[^|]+`) \|/gmu)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)[\w.]*`/gu)].map(([, name = ""]) => name),
    )
    const groups = Object.keys(properties).filter((name) => name !== "global")
    assert.sameMembers([...new Set(named)], groups)
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string }
    assert.include(readFileSync(`${CHART}/Chart.yaml`, "utf8"), `\nappVersion: ${version}\n`)
  })

  it("values.yaml has every value of the schema, and no other", () => {
    const paths = (value: unknown, schema: Schema | undefined, path: string): ReadonlyArray<string> =>
      // Names of settings are open: values.yaml shows examples.
      schema?.properties === undefined || schema.propertyNames !== undefined
        ? []
        : [
            ...Object.keys(schema.properties).filter((name) => name !== "global" && !(name in (value as object))),
            ...Object.keys(value as object).filter((name) => !(name in (schema.properties ?? {}))),
          ]
            .map((name) => `${path}.${name}`)
            .concat(
              Object.entries(schema.properties).flatMap(([name, inner]) =>
                paths((value as Record<string, unknown>)[name] ?? {}, inner, `${path}.${name}`),
              ),
            )
    const values: unknown = parse(readFileSync(`${CHART}/values.yaml`, "utf8"))
    assert.deepStrictEqual(paths(values, { properties }, "values"), [])
  })
})
