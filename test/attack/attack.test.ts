import { assert, layer } from "../support/effectTest.ts"
import type { Row } from "./harness/judge.ts"
import { Run } from "./harness/Run.ts"
import { SCENARIO_MS } from "./harness/Scenario.ts"
import { printable, table } from "./harness/table.ts"
import { SCENARIOS } from "./scenarios.ts"

/** Options of `npm run attack -- --seed=7 --only=preview`; the test suite runs the short form of all scenarios. */
const FORM = process.env["WAYBILL_ATTACK"] === "long" ? "long" : "short"
const SEED = Number(process.env["WAYBILL_ATTACK_SEED"] ?? 20261122)
const ONLY = process.env["WAYBILL_ATTACK_ONLY"] ?? ""
const isCommand = process.env["WAYBILL_ATTACK"] !== undefined

const selected = SCENARIOS.map((scenario, nth) => ({ scenario, nth })).filter(({ scenario }) =>
  scenario.name.includes(ONLY),
)
const names = SCENARIOS.map(({ name }) => name).join(", ")

const progress = ({ failures, scenario, took_ms }: Row) =>
  printable(`${scenario.name}: ${failures.join("; ") || "held"} (${(took_ms / 1_000).toFixed(1)} s)`)

layer(Run.layer({ seed: SEED, form: FORM }), { excludeTestServices: true, timeout: "300 seconds" })(
  `attacks (seed ${SEED})`,
  (it) => {
    for (const { nth, scenario } of selected)
      it.effect(
        `the service stays within its limits: ${scenario.name}`,
        function* () {
          const row = yield* (yield* Run).attack(scenario, nth)
          if (isCommand) return void process.stdout.write(`attack: ${progress(row)}\n`)
          assert.deepStrictEqual(row.failures, [], table([row]))
        },
        // Leaves time for further runs after a stall and for a restart of the service.
        3 * (scenario.within_ms ?? SCENARIO_MS[FORM]) + 300_000,
      )

    it.effect("the table contains every chosen scenario, at least one", function* () {
      const { rows } = yield* Run
      assert.isAbove(selected.length, 0, `no attack is called ${ONLY}: there are ${names}`)
      if (isCommand) process.stdout.write(`\n${table(rows)}\n\n`)
      assert.lengthOf(rows, selected.length)
      // The command prints its complete table before it fails.
      const failed = isCommand ? rows.filter(({ failures }) => failures.length > 0) : []
      assert.deepStrictEqual(
        failed.map(({ scenario }) => scenario.name),
        [],
        "limits were exceeded",
      )
    })
  },
)
