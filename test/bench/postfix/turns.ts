import * as Cpu from "../accept/Cpu.ts"
import * as Measure from "../report/Measure.ts"
import type { Contender } from "./contenders.ts"
import type { Sink } from "./Sink.ts"

/** Messages of a warm-up, in steps and up to a limit, since a busy machine needs longer. */
const WARM_UP_STEP = 4_000
const WARM_UP_AT_MOST_MILLIS = 60_000
/** Pause after a turn, in which processes come to rest. Their processor time in it counts. */
const REST_MILLIS = 500
const LOOK_EVERY_MILLIS = 20

export interface Turn {
  /** From the first request to the last final dot at the sink. */
  readonly perSecond: number
  /** From the first request to the last answer. */
  readonly acceptedPerSecond: number
  /** Processor time for each message. */
  readonly ownMicros: number
  readonly helperMicros: number
  /** Of the load and the sink. */
  readonly otherMicros: number
}

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
const now = () => performance.timeOrigin + performance.now()

/** Sends the messages and waits until all of them have arrived and the contender has finished its own work. */
const take = async (contender: Contender, sink: Sink, mails: number): Promise<Turn> => {
  const spent = () => ({ ...contender.spent(), other: Cpu.ofTree(contender.loadPid) + Cpu.ofTree(sink.pid) })
  const before = spent()
  const began = now()
  await contender.send(mails)
  const accepted = now()
  const { last, signed } = await sink.take(mails)
  while ((await contender.unfinished()) > 0) await sleep(LOOK_EVERY_MILLIS)
  await sleep(REST_MILLIS)
  if (signed !== (contender.isSigning ? mails : 0)) throw new Error(`${contender.name}: ${signed} of ${mails} signed`)
  const after = spent()
  const micros = (millis: number) => (millis * 1000) / mails
  return {
    perSecond: (mails * 1000) / (last - began),
    acceptedPerSecond: (mails * 1000) / (accepted - began),
    ownMicros: micros(after.own - before.own),
    helperMicros: micros(after.helper - before.helper),
    otherMicros: micros(after.other - before.other),
  }
}

/** Runs a contender until its code is compiled and its processes are started. */
export const warmUp = async (contender: Contender, sink: Sink): Promise<void> => {
  const end = now() + WARM_UP_AT_MOST_MILLIS
  for (let mails = 0; mails < contender.warmUpMails && now() < end; mails += WARM_UP_STEP) {
    await take(contender, sink, WARM_UP_STEP)
  }
}

export type Turns = ReadonlyMap<string, ReadonlyArray<Turn>>

/** Runs the rounds; contenders take turns within a round, so that other load on the machine affects all of them. */
export const run = async (
  contenders: ReadonlyArray<Contender>,
  sink: Sink,
  { mails, rounds }: { readonly mails: number; readonly rounds: number },
): Promise<Turns> => {
  const turns = new Map<string, Array<Turn>>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      turns.get(contender.name)?.push(await take(contender, sink, mails))
    }
  }
  return turns
}

const of = (turns: Turns, name: string): ReadonlyArray<Turn> => turns.get(name) ?? []

export const median = (turns: Turns, name: string, value: (turn: Turn) => number): number =>
  Measure.median(of(turns, name).map(value))

/** Ratios within each round, not the ratio of the medians. */
export const ratios = (turns: Turns, name: string, against: string, value: (turn: Turn) => number): Measure.Spread => {
  const base = of(turns, against)
  return Measure.spread(of(turns, name).map((turn, round) => value(turn) / value(base[round] as Turn)))
}

/** With the load and the sink, which share the machine. */
export const allMicros = (turn: Turn): number => spentMicros(turn) + turn.otherMicros

export const spentMicros = ({ helperMicros, ownMicros }: Turn): number => ownMicros + helperMicros

export const table = (turns: Turns): string =>
  Measure.table(
    ["", "a second", "least", "most", "accepted", "CPU µs/message", "of it the helper", "of load and sink"],
    [...turns].map(([name, all]) => {
      const { least, median: middle, most } = Measure.spread(all.map(({ perSecond }) => perSecond))
      const values = [
        (turn: Turn) => turn.acceptedPerSecond,
        spentMicros,
        (turn: Turn) => turn.helperMicros,
        (turn: Turn) => turn.otherMicros,
      ]
      return [name, ...[middle, least, most, ...values.map((value) => median(turns, name, value))].map(Measure.rate)]
    }),
  )
