import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as LogDay from "./LogDay.ts"
import * as RequestLogBounds from "./RequestLogBounds.ts"
import * as RequestLogCounts from "./RequestLogCounts.ts"

type Day = LogDay.Day
type Amount = RequestLogBounds.Amount
type Level = RequestLogBounds.Level
type Change = RequestLogCounts.Change
type Holder = RequestLogCounts.Holder
type Total = RequestLogCounts.Total

/** Part of a day's bound that accepted calls may use. The rest is for refused ones, spread over the minutes of the day. */
const SHARE_OF_ACCEPTED = 1 / 2
const MINUTE = 60_000

/** Account, and key or member, that makes a call. */
export interface Caller {
  readonly account_id: string
  readonly api_key_id: string | null
  readonly user_id: string | null
}

/** A row that is to be kept. */
export interface Charged extends Caller {
  readonly day: Day
  readonly bytes: number
}

/** Calls of a holder that this process has kept in this minute, and those that it has not kept since the last write. */
interface Standing {
  readonly level: Level
  rows: number
  bytes: number
  notKept: number
  /** Capacity that is left of the day over all processes, once it is no more than the part of refused calls. */
  left: Amount | undefined
}

interface AccountStanding extends Standing {
  /** All accounts of its database, once calls were counted there. */
  database: Standing | undefined
  readonly callers: Map<string, Standing>
}

const standing = (level: Level): Standing => ({ level, rows: 0, bytes: 0, notKept: 0, left: undefined })

const callerId = ({ api_key_id, user_id }: Caller): string => api_key_id ?? user_id ?? ""

const keyOf = ({ account_id, caller_id, day }: Holder): string => `${account_id} ${caller_id} ${day}`

/**
 * Decides which calls the request log keeps, so that neither a key nor an account nor all of them fill the disk. The bounds of a
 * minute are counted in this process. Those of a day are shared by all processes: each write adds to the sums in the
 * database before its rows are copied there, and a row beyond a sum is not copied.
 */
export class RequestLogBudget {
  readonly #process = standing("all")
  readonly #databases = new Map<string, Standing>()
  readonly #accounts = new Map<string, AccountStanding>()
  /** Changes that are to be added with the next write: what was given back, and calls that were not kept. */
  #changes = new Map<string, Change>()
  #minute = 0

  /** Number of accounts and callers in memory: those of this minute, and those with little left of the day. */
  get size(): number {
    let size = this.#accounts.size
    for (const { callers } of this.#accounts.values()) size += callers.size
    return size
  }

  /** Whether a call may be kept. */
  permits(caller: Caller, isAccepted: boolean, now_ms: number): boolean {
    this.#roll(now_ms)
    return this.#standings(caller).every((each) => isWithin(each, isAccepted, now_ms))
  }

  /** Counts a call that is kept. */
  charge(caller: Caller, bytes: number): void {
    for (const each of this.#standings(caller)) {
      each.rows++
      each.bytes += bytes
    }
  }

  /** Counts a call that is not kept. */
  skip(caller: Caller): void {
    const account = this.#account(caller)
    account.notKept++
    callerIn(account, caller).notKept++
    this.#process.notKept++
  }

  /** Returns what is to be added to the sums of accounts and callers before rows are copied; empty if nothing is. */
  take(rows: ReadonlyArray<Charged>, now_ms: number): ReadonlyArray<Change> {
    this.#collectSkipped(LogDay.dayOf(now_ms))
    for (const row of rows) this.#add(row, 1, row.bytes, 0)
    const changes = [...this.#changes.values()]
    this.#changes = new Map()
    return changes
  }

  /** Keeps changes for the next write, after one that failed. */
  restore(changes: ReadonlyArray<Change>): void {
    for (const { bytes, notKept, rows, ...holder } of changes) this.#change(holder, rows, bytes, notKept)
  }

  /** Takes rows back out of the sums, until they are taken again. */
  uncount(rows: ReadonlyArray<Charged>): void {
    for (const row of rows) this.#add(row, -1, -row.bytes, 0)
  }

  /** Gives back rows that were not copied, and counts them. */
  giveBack(rows: ReadonlyArray<Charged>): void {
    for (const row of rows) this.#add(row, -1, -row.bytes, 1)
  }

  /** Returns the rows that the sums of a database have capacity for. The sums include all of `rows`. */
  settle<R extends Charged>(
    database: string,
    rows: ReadonlyArray<R>,
    totals: ReadonlyArray<Total>,
    now_ms: number,
  ): ReadonlyArray<R> {
    const left = new Map(totals.map((total) => [keyOf(total), leftOf(total)] as const))
    const holders = (row: R) =>
      [{ account_id: "", caller_id: "", day: row.day }, ...holdersOf(row)].flatMap(
        (holder) => left.get(keyOf(holder)) ?? [],
      )
    for (const row of rows)
      for (const each of holders(row)) {
        each.rows++
        each.bytes += row.bytes
      }
    const kept = rows.filter((row) => {
      const each = holders(row)
      if (each.some(({ bytes, rows }) => rows < 1 || bytes < row.bytes)) return false
      for (const one of each) {
        one.rows--
        one.bytes -= row.bytes
      }
      return true
    })
    const today = LogDay.dayOf(now_ms)
    for (const total of totals) if (total.day === today) this.#note(database, total, left.get(keyOf(total)))
    return kept
  }

  /** Remembers how much is left of a holder's day, once accepted calls have used their part of it. */
  #note(database: string, holder: Holder, left: Amount | undefined): void {
    const level = RequestLogCounts.levelOf(holder)
    const { bytes, rows } = RequestLogBounds.PER_DAY[level]
    const reserve = 1 - SHARE_OF_ACCEPTED
    const isScarce = left !== undefined && (left.rows <= rows * reserve || left.bytes <= bytes * reserve)
    const all = this.#databases.get(database) ?? standing("all")
    this.#databases.set(database, all)
    const account = this.#accounts.get(holder.account_id)
    if (account !== undefined) account.database = all
    const found = level === "all" ? all : level === "account" ? account : account?.callers.get(holder.caller_id)
    if (found !== undefined) found.left = isScarce ? left : undefined
  }

  /** All whose bounds a call uses. */
  #standings(caller: Caller): ReadonlyArray<Standing> {
    const account = this.#account(caller)
    const all = account.database === undefined ? [this.#process] : [this.#process, account.database]
    return [...all, account, callerIn(account, caller)]
  }

  #account({ account_id }: Caller): AccountStanding {
    const existing = this.#accounts.get(account_id)
    if (existing !== undefined) return existing
    const made: AccountStanding = { ...standing("account"), database: undefined, callers: new Map() }
    this.#accounts.set(account_id, made)
    return made
  }

  /** Begins a new minute, and forgets who has used nothing of it. */
  #roll(now_ms: number): void {
    const minute = Math.floor(now_ms / MINUTE)
    if (minute === this.#minute) return
    const isNewDay = LogDay.dayOf(now_ms) !== LogDay.dayOf(this.#minute * MINUTE)
    this.#minute = minute
    this.#collectSkipped(LogDay.dayOf(now_ms))
    const reset = (each: Standing): boolean => {
      each.rows = 0
      each.bytes = 0
      if (isNewDay) each.left = undefined
      return each.left !== undefined
    }
    for (const all of [this.#process, ...this.#databases.values()]) reset(all)
    for (const [account_id, account] of this.#accounts) {
      for (const [id, each] of account.callers) if (!reset(each)) account.callers.delete(id)
      const isScarce = reset(account) || account.database?.left !== undefined
      if (!isScarce && account.callers.size === 0) this.#accounts.delete(account_id)
    }
  }

  #collectSkipped(day: Day): void {
    if (this.#process.notKept === 0) return
    this.#process.notKept = 0
    const collect = (account_id: string, caller_id: string, each: Standing) => {
      if (each.notKept > 0) this.#change({ account_id, caller_id, day }, 0, 0, each.notKept)
      each.notKept = 0
    }
    for (const [account_id, account] of this.#accounts) {
      collect(account_id, "", account)
      for (const [id, each] of account.callers) if (id !== "") collect(account_id, id, each)
    }
  }

  #add(row: Charged, rows: number, bytes: number, notKept: number): void {
    for (const holder of holdersOf(row)) this.#change(holder, rows, bytes, notKept)
  }

  #change(holder: Holder, rows: number, bytes: number, notKept: number): void {
    const key = keyOf(holder)
    const existing = this.#changes.get(key)
    if (existing === undefined) return void this.#changes.set(key, { ...holder, rows, bytes, notKept })
    existing.rows += rows
    existing.bytes += bytes
    existing.notKept += notKept
  }
}

const callerIn = ({ callers }: AccountStanding, caller: Caller): Standing => {
  const id = callerId(caller)
  const existing = callers.get(id)
  if (existing !== undefined) return existing
  const made = standing("caller")
  callers.set(id, made)
  return made
}

const isWithin = ({ bytes, left, level, rows }: Standing, isAccepted: boolean, now_ms: number): boolean => {
  const minute = RequestLogBounds.PER_MINUTE[level]
  if (left === undefined) return rows < minute.rows && bytes < minute.bytes
  if (isAccepted) return false
  const minutesLeft = Math.ceil((Timestamp.DAY - (now_ms % Timestamp.DAY)) / MINUTE)
  return (
    rows < Math.min(minute.rows, left.rows / minutesLeft) && bytes < Math.min(minute.bytes, left.bytes / minutesLeft)
  )
}

const holdersOf = (row: Charged): ReadonlyArray<Holder> => {
  const { account_id, day } = row
  const account = { account_id, caller_id: "", day }
  const caller_id = callerId(row)
  return caller_id === "" ? [account] : [account, { account_id, caller_id, day }]
}

const leftOf = (total: Total): { rows: number; bytes: number } => {
  const { bytes, rows } = RequestLogBounds.PER_DAY[RequestLogCounts.levelOf(total)]
  return { rows: rows - total.rows, bytes: bytes - total.bytes }
}
