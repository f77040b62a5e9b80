import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Yaml from "yaml"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<string, string>>
}

const alerts = Yaml.parse(readFileSync("docs/operating/alerts.yaml", "utf8")) as unknown as {
  readonly groups: ReadonlyArray<{ readonly name: string; readonly rules: ReadonlyArray<Rule> }>
}
const rules = alerts.groups.flatMap((group) => group.rules)

interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}
const dashboard = JSON.parse(readFileSync("docs/operating/grafana-dashboard.json", "utf8")) as {
  readonly panels: ReadonlyArray<Panel>
  readonly templating: { readonly list: ReadonlyArray<{ readonly name: string }> }
}

const queries = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...dashboard.panels.flatMap(({ targets = [], title }) => targets.map(({ expr }) => ({ where: title, expr }))),
]

/** Returns the metrics of a query, with the labels that it matches on, and the labels that it groups by. */
const read = (expr: string) => ({
  selectors: [...expr.matchAll(/\b((?:waybill|nodejs|process)_\w+|up\b)(?:\{([^}]*)\})?/gu)].map(
    ([, metric = "", matchers = ""]) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)[=!]/gu)].map(([, label = ""]) => label),
    }),
  ),
  groupedBy: [...expr.matchAll(/\bby \(([^)]*)\)/gu)].flatMap(([, labels = ""]) => labels.split(", ")),
})

/** Labels that Prometheus adds to each series. */
const OF_PROMETHEUS = { up: ["job", "instance"] }
const ALWAYS = ["job", "instance", "le"]

/** Returns every metric name after a scrape, with the labels of its series. */
const known = (text: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>(
    Object.entries(OF_PROMETHEUS).map(([name, labels]) => [name, new Set(labels)]),
  )
  for (const line of text.split("\n")) {
    const [, name, labels = ""] = /^([a-z_]\w*)(?:\{(.*)\})? \S+$/iu.exec(line) ?? []
    if (name === undefined) continue
    const all = found.get(name) ?? new Set(ALWAYS)
    found.set(name, all)
    for (const [, label = ""] of labels.matchAll(/(\w+)="/gu)) all.add(label)
  }
  return found
}

layer(World.layer, { excludeTestServices: true })("the dashboard and the alerts", (it) => {
  it.effect(
    "query only metrics that exist",
    function* () {
      const { url } = yield* Database.Fresh
      const metricsPort = yield* Effect.promise(freePort)
      const node = yield* ServiceProcess.start(url, {
        METRICS_PORT: String(metricsPort),
        BACKUP_TO: path.join(os.tmpdir(), `waybill-no-backups-${metricsPort}`),
      })
      const { post } = yield* ServiceProcess.signUp(node)
      // Series that are created by outcome and site need two of each.
      const mail = { from: "hi@acme.test", subject: "Receipt", text: "Thank you." }
      yield* post("/v1/email/send", { ...mail, to: ["ana@example.org", "bounced@example.test"] })
      const series = yield* World.until(
        Effect.map(
          Effect.promise(() => fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((answer) => answer.text())),
          known,
        ),
        (found) => found.has("waybill_delivery_outcomes_total") && found.has("waybill_delivery_age_seconds_bucket"),
      )
      const told = readFileSync("docs/operating/monitoring.md", "utf8")
      const names = [...series.keys()].map((name) => name.replace(/_(?:bucket|sum|count)$/u, ""))
      assert.isEmpty(names.filter((name) => name !== "up" && !told.includes(`\`${name}`)))
      for (const [, name = "", labels = ""] of told.matchAll(/`((?:waybill|nodejs)_\w+)\{([\w,]+)\}/gu)) {
        const its = series.get(name) ?? series.get(`${name}_bucket`)
        for (const label of labels.split(",")) assert.isTrue(its?.has(label), `monitoring.md: ${name} has no ${label}`)
      }
      for (const { expr, where } of queries) {
        const { groupedBy, selectors } = read(expr)
        assert.isNotEmpty(selectors, where)
        for (const { labels, metric } of selectors) {
          const its = series.get(metric)
          assert.isDefined(its, `${where}: there is no ${metric}`)
          for (const label of [...labels, ...groupedBy])
            assert.isTrue(its?.has(label), `${where}: ${metric} has no label ${label}`)
        }
      }
    },
    60_000,
  )
})

describe("the alerts", () => {
  it("have unique names, a severity and a runbook", () => {
    assert.isAbove(rules.length, 10)
    assert.lengthOf(new Set(rules.map(({ alert }) => alert)), rules.length)
    for (const { alert, annotations, labels, ...rule } of rules) {
      assert.match(alert, /^Waybill[A-Z]\w+$/u)
      assert.include(["warning", "critical"], labels.severity, alert)
      assert.isString(annotations["summary"], alert)
      if (rule.for !== undefined) assert.match(rule.for, /^\d+[mh]$/u, alert)
      const [file = "", anchor = ""] = (annotations["runbook"] ?? "").split("#")
      assert.include(headings(file), anchor, `${alert} leads to ${file}#${anchor}`)
    }
  })

  it("count bounces by report as well as by reply", () => {
    const { expr = "" } = rules.find(({ alert }) => alert === "WaybillBounces") ?? {}
    for (const { metric } of read(expr).selectors) assert.strictEqual(metric, "waybill_events_total")
    for (const tag of expr.match(/Email\w+/gu) ?? []) assert.include(DomainEvent.TAGS, tag)
  })

  it("use series that exist from the start if they wait for an increase", () => {
    const counted = rules.filter(({ expr }) => /increase\([^)]*\) *\) > 0$/u.test(expr))
    assert.sameMembers(
      counted.flatMap(({ expr }) => read(expr).selectors.map(({ metric }) => metric)),
      ["waybill_leases_recovered_total", "waybill_events_total"],
    )
  })
})

describe("the dashboard", () => {
  it("takes no rate of a log position, which jumps at an epoch", () => {
    const rates = queries.filter(({ expr }) => /(?:deriv|rate|increase)\(/u.test(expr))
    assert.isNotEmpty(rates)
    for (const { expr, where } of rates) assert.notInclude(expr, "waybill_log_position", where)
  })

  it("has no overlapping and no empty panels", () => {
    const taken = new Set<string>()
    for (const { gridPos, targets = [], title, type } of dashboard.panels) {
      if (type !== "row") assert.isNotEmpty(targets, title)
      assert.isAtMost(gridPos.x + gridPos.w, 24, title)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.isFalse(taken.has(`${x} ${y}`), title)
          taken.add(`${x} ${y}`)
        }
      }
    }
    assert.lengthOf(new Set(dashboard.panels.map(({ id }) => id)), dashboard.panels.length)
  })

  it("uses only declared variables", () => {
    const text = JSON.stringify(dashboard)
    const declared = new Set(dashboard.templating.list.map(({ name }) => name))
    const used = [...text.matchAll(/\$\{?(\w+)/gu)].map(([, name = ""]) => name)
    assert.isEmpty(used.filter((name) => !name.startsWith("__") && !declared.has(name)))
  })
})

/** Returns the anchor of a heading: lower case, with dashes for spaces. */
const headings = (file: string): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(/^#{2,3} (.+)$/gmu)].map(([, words = ""]) =>
    words
      .toLowerCase()
      .replace(/[^\w -]/gu, "")
      .replaceAll(" ", "-"),
  )
