import * as RequestLogBounds from "@waybill/store/requests/RequestLogBounds"
import { type Caller, type Charged, RequestLogBudget } from "@waybill/store/requests/RequestLogBudget"
import { type Change, type Total, withTotal } from "@waybill/store/requests/RequestLogCounts"
import { assert, describe, it } from "vitest"

const { PER_DAY, PER_MINUTE } = RequestLogBounds
const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const KIB = 1024

const caller = (key: string, account = "acc_a"): Caller => ({ account_id: account, api_key_id: key, user_id: null })
const rowOf = (of: Caller, bytes = KIB, day = 0): Charged => ({ ...of, bytes, day })

/** Keeps as many calls as a budget permits, of `wanted`. */
const keep = (budget: RequestLogBudget, of: Caller, wanted: number, now_ms = 0, bytes = KIB, isAccepted = false) => {
  let kept = 0
  for (let nth = 0; nth < wanted; nth++)
    if (budget.permits(of, isAccepted, now_ms)) {
      budget.charge(of, bytes)
      kept++
    } else budget.skip(of)
  return kept
}

/** The sums of a cell that several budgets write to. */
const sums = () => {
  const rows = new Map<string, { -readonly [K in keyof Total]: Total[K] }>()
  return (changes: ReadonlyArray<Change>): ReadonlyArray<Total> =>
    withTotal(changes).map(({ notKept: _, ...change }) => {
      const name = `${change.account_id} ${change.caller_id} ${change.day}`
      const former = rows.get(name) ?? { ...change, rows: 0, bytes: 0 }
      const total = { ...former, rows: former.rows + change.rows, bytes: former.bytes + change.bytes }
      rows.set(name, total)
      return total
    })
}

describe("the budget of the request log", () => {
  it("keeps the rows and bytes of a minute for a key, an account and a process, and one row more at most", () => {
    const budget = new RequestLogBudget()
    assert.strictEqual(keep(budget, caller("a"), 5_000, 0, 1), PER_MINUTE.caller.rows)
    for (const key of ["b", "c", "d"]) keep(budget, caller(key), 5_000, 0, 1)
    assert.strictEqual(keep(budget, caller("e"), 1), 0)
    const others = Array.from({ length: 10 }, (_, nth) => keep(budget, caller("a", `acc_${nth}`), 5_000, 0, 1))
    const all = others.reduce((sum, each) => sum + each, PER_MINUTE.account.rows)
    assert.strictEqual(all, PER_MINUTE.all.rows)
    assert.strictEqual(keep(budget, caller("a"), 5_000, MINUTE, 32 * KIB), PER_MINUTE.caller.bytes / (32 * KIB))
    assert.strictEqual(
      keep(budget, caller("a"), 5_000, 2 * MINUTE, 30 * KIB),
      Math.ceil(PER_MINUTE.caller.bytes / (30 * KIB)),
    )
  })

  // threat: filled-disk
  it("shares the bounds of a day among processes exactly, also after one began anew", () => {
    const add = sums()
    let kept = 0
    const write = (budget: RequestLogBudget, rows: ReadonlyArray<Charged>) => {
      const fits = budget.settle("public", rows, add(budget.take(rows, 0)), 0)
      const isKept = new Set(fits)
      budget.giveBack(rows.filter((row) => !isKept.has(row)))
      kept += fits.length
    }
    for (let nth = 0; nth < 200; nth++)
      write(
        new RequestLogBudget(),
        Array.from({ length: 300 }, () => rowOf(caller("a"), 1)),
      )
    const [one, other] = [new RequestLogBudget(), new RequestLogBudget()]
    for (let nth = 0; nth < 20; nth++)
      for (const each of [one, other])
        write(
          each,
          Array.from({ length: 300 }, () => rowOf(caller("a"), 1)),
        )
    assert.strictEqual(kept, PER_DAY.caller.rows)
    write(one, [rowOf(caller("b"))])
    assert.strictEqual(kept, PER_DAY.caller.rows + 1)
    write(one, [rowOf(caller("a"), 1, 1)])
    assert.strictEqual(kept, PER_DAY.caller.rows + 2)
  })

  it("keeps no row that is larger than what is left of a day", () => {
    const budget = new RequestLogBudget()
    const rows = [PER_DAY.caller.bytes - 10, 11, 10].map((bytes) => rowOf(caller("a"), bytes))
    const kept = budget.settle("public", rows, sums()(budget.take(rows, 0)), 0).map(({ bytes }) => bytes)
    assert.deepStrictEqual(kept, [PER_DAY.caller.bytes - 10, 10])
  })

  it("keeps half of a day for refused calls and spreads it over the minutes that are left", () => {
    const budget = new RequestLogBudget()
    const total = { account_id: "acc_a", caller_id: "a", day: 0, bytes: 0 }
    budget.charge(caller("a"), 1)
    const note = (rows: number, now_ms: number) => budget.settle("public", [], [{ ...total, rows }], now_ms)
    note(PER_DAY.caller.rows / 2 - 1, 0)
    assert.strictEqual(keep(budget, caller("a"), 100, MINUTE, 1, true), 100)
    note(PER_DAY.caller.rows / 2, MINUTE)
    assert.strictEqual(keep(budget, caller("a"), 1, MINUTE, 1, true), 0)
    assert.strictEqual(keep(budget, caller("b"), 1, MINUTE, 1, true), 1)
    const left = PER_DAY.caller.rows / 2
    assert.strictEqual(keep(budget, caller("a"), 5_000, 2 * MINUTE, 1), Math.ceil(left / 1_438))
    assert.strictEqual(keep(budget, caller("a"), 5_000, DAY - MINUTE, 1), PER_MINUTE.caller.rows)
    note(PER_DAY.caller.rows, DAY - 1)
    assert.strictEqual(keep(budget, caller("a"), 5_000, DAY - 1, 1), 0)
    assert.strictEqual(keep(budget, caller("a"), 1, DAY, 1, true), 1)
  })

  it("keeps half of the day of a cell for refused calls of its accounts, and takes nothing from other cells", () => {
    const budget = new RequestLogBudget()
    const [there, here] = [caller("a"), caller("b", "acc_b")]
    keep(budget, there, 1)
    keep(budget, here, 1)
    const note = (cell: string, account_id: string, rows: number) =>
      budget.settle(
        cell,
        [],
        ["", account_id].map((id) => ({ account_id: id, caller_id: "", day: 0, bytes: 0, rows: id === "" ? rows : 1 })),
        0,
      )
    note("cell_b", there.account_id, PER_DAY.all.rows / 2)
    note("public", here.account_id, 2)
    const kept = (now_ms: number) => [there, here].map((of) => keep(budget, of, 1, now_ms, 1, true))
    assert.deepStrictEqual(
      [kept(0), kept(MINUTE)],
      [
        [0, 1],
        [0, 1],
      ],
    )
    assert.strictEqual(keep(budget, there, 1, MINUTE), 1)
    note("cell_b", there.account_id, PER_DAY.all.rows / 2 - 1)
    assert.deepStrictEqual(kept(MINUTE), [1, 1])
  })

  it("counts what it does not keep, by key, account and cell, and gives back what was not written", () => {
    const budget = new RequestLogBudget()
    for (const key of ["a", "a", "b"]) budget.skip(caller(key))
    const rows = [rowOf(caller("a"))]
    const changes = budget.take(rows, 0)
    const shown = (all: ReadonlyArray<Change>) =>
      withTotal(all)
        .map((each) => [each.account_id, each.caller_id, each.rows, each.bytes, each.notKept].join(" "))
        .toSorted()
    assert.deepStrictEqual(shown(changes), ["  1 1024 3", "acc_a  1 1024 3", "acc_a a 1 1024 2", "acc_a b 0 0 1"])
    budget.restore(changes)
    budget.giveBack(rows)
    assert.deepStrictEqual(shown(budget.take([], 0)), ["  0 0 4", "acc_a  0 0 4", "acc_a a 0 0 3", "acc_a b 0 0 1"])
    assert.deepStrictEqual(budget.take([], 0), [])
  })

  it("forgets callers of former minutes", () => {
    const budget = new RequestLogBudget()
    for (let nth = 0; nth < 100; nth++) keep(budget, caller(`k${nth}`, `acc_${nth}`), 1)
    assert.strictEqual(budget.size, 200)
    keep(budget, caller("a"), 1, MINUTE)
    assert.strictEqual(budget.size, 2)
  })
})
