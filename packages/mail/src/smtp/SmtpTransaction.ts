import * as Reply from "../reply/Reply.ts"
import type * as ReplyClass from "../reply/ReplyClass.ts"
import type { WireReply } from "./ReplyLines.ts"
import * as SmtpCommands from "./SmtpCommands.ts"
import type { Timeouts } from "./SmtpTimeouts.ts"
import { type SmtpWire, WireError } from "./SmtpWire.ts"

/**
 * Octets passed to the socket at once, so that a dropped connection is noticed before the end of a large body is
 * written.
 */
export const BLOCK_BYTES = 64 * 1024

export interface Session {
  readonly wire: SmtpWire
  readonly extensions: ReadonlyMap<string, string>
  readonly timeouts: Timeouts
  /** No more transactions may be sent here. */
  isClosed: boolean
  /** A transaction was left half-way: RSET before the next. */
  needsReset: boolean
  /** Number of transactions under way: one, and the next once the message of the first is written. */
  underWay: number
}

export interface Transaction extends SmtpCommands.Envelope {
  /** Decides, before the message itself is written, whether it may be. If not, the connection is dropped. */
  readonly mayWrite?: (() => boolean) | undefined
}

/**
 * `Lost` with `ambiguous` is the one unknown case: the end of the data was written and no answer came. Any other loss
 * means that the message was not accepted.
 */
export type RecipientReply =
  | { readonly _tag: "Accepted"; readonly reply: Reply.Reply; readonly confirms: boolean }
  | { readonly _tag: "Refused"; readonly reply: Reply.Reply }
  | { readonly _tag: "Lost"; readonly stage: ReplyClass.Stage; readonly detail: string; readonly ambiguous: boolean }

/**
 * Runs one MAIL transaction. Every recipient gets an answer; no error of the connection escapes. A server with PIPELINING
 * takes the commands of the next transaction together with the end of this one (RFC 2920 §3.1), which `passOn` may begin.
 */
export const send = async (
  session: Session,
  transaction: Transaction,
  passOn: () => void = () => {},
): Promise<ReadonlyArray<RecipientReply>> => {
  const impossible = unsupported(session, transaction)
  if (impossible !== undefined) return transaction.to.map(() => ({ _tag: "Refused", reply: impossible }))
  const run: Run = { session, transaction, passOn, answers: new Map(), stage: "mail", hasWrittenEnd: false }
  session.underWay++
  try {
    await exchange(run)
    if (!session.isClosed && session.underWay === 1) session.wire.rest()
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    session.isClosed = true
    session.wire.destroy()
    answerRest(run, { _tag: "Lost", stage: run.stage, detail: error.message, ambiguous: run.hasWrittenEnd })
  } finally {
    session.underWay--
  }
  return transaction.to.map(
    (_, i) =>
      run.answers.get(i) ?? { _tag: "Lost", stage: run.stage, detail: "no answer", ambiguous: run.hasWrittenEnd },
  )
}

interface Run {
  readonly session: Session
  readonly transaction: Transaction
  readonly passOn: () => void
  readonly answers: Map<number, RecipientReply>
  stage: ReplyClass.Stage
  /** The line that ends the data was passed to the socket. */
  hasWrittenEnd: boolean
}

const exchange = async (run: Run): Promise<void> => {
  const { session, transaction } = run
  const { timeouts, wire } = session
  if (session.needsReset) {
    wire.write("RSET\r\n")
    const reset = await wire.read(timeouts.mail_ms)
    if (reset.code === 421) return refuseAll(run, reset)
    // A refusal of RSET concerns the session and the mail before: this mail goes to another server.
    if (!isPositive(reset)) throw new WireError("protocol", `${reset.code} in answer to RSET`)
    session.needsReset = false
  }
  const mail = SmtpCommands.mail(session.extensions, transaction)
  const rcpts = transaction.to.map((address) => SmtpCommands.rcpt(session.extensions, transaction, address))
  const pipelines = session.extensions.has("PIPELINING")
  session.needsReset = true
  // All commands in one group (RFC 2920 §3.1), so a message costs two round trips instead of four.
  wire.write(pipelines ? [mail, ...rcpts, DATA].join("") : mail)
  const sender = await wire.read(timeouts.mail_ms)
  if (!isPositive(sender)) {
    refuseAll(run, sender)
    if (pipelines) await skip(run, rcpts.length)
    return
  }
  run.stage = "rcpt"
  let accepted = 0
  for (const [i, line] of rcpts.entries()) {
    if (!pipelines) wire.write(line)
    const reply = await wire.read(timeouts.rcpt_ms)
    if (isPositive(reply)) accepted++
    else if (reply.code === 421) return refuseAll(run, reply)
    else run.answers.set(i, refused(run, reply))
  }
  if (accepted === 0) {
    if (pipelines) await skip(run, 0)
    return
  }
  run.stage = "data"
  if (!pipelines) wire.write(DATA)
  const go = await wire.read(timeouts.data_ms)
  if (go.code !== 354) {
    if (go.code < 400) throw new WireError("protocol", `${go.code} in answer to DATA`)
    return refuseAll(run, go)
  }
  const verdict = await body(run)
  if (isPositive(verdict)) {
    const confirms = transaction.dsn !== undefined && session.extensions.has("DSN")
    answerRest(run, { _tag: "Accepted", reply: toReply(verdict, run.stage), confirms })
  } else refuseAll(run, verdict)
}

const DATA = "DATA\r\n"

/**
 * Reads the replies to the rest of a refused group. A server that still wants data for a message without recipients
 * would need an empty one, and might deliver it: the session is dropped instead.
 */
const skip = async (run: Run, rcpts: number): Promise<void> => {
  const { session } = run
  for (let i = 0; i <= rcpts && !session.isClosed; i++) {
    const reply = await session.wire.read(session.timeouts.rcpt_ms)
    if (reply.code === 421 || reply.code === 354) session.isClosed = true
  }
  if (session.isClosed) session.wire.destroy()
}

/** Sends the body and reads the answer: usually after its end, but a server may answer in the middle. */
const body = async (run: Run): Promise<WireReply> => {
  const { extensions, timeouts, wire } = run.session
  const { bytes } = run.transaction.body
  run.stage = "body"
  // A reply sent before the message is no answer to it.
  if (!wire.isQuiet) return early(run)
  if (run.transaction.mayWrite?.() === false) throw new WireError("closed", "this side stops")
  let at = 0
  for (; bytes.length - at > BLOCK_BYTES; at += BLOCK_BYTES) {
    wire.write(bytes.subarray(at, at + BLOCK_BYTES))
    await wire.flushed(timeouts.block_ms)
    if (wire.hasReply) return early(run)
  }
  let verdict: Promise<WireReply> | undefined
  wire.together(() => {
    wire.write(Buffer.concat([bytes.subarray(at), END]))
    run.stage = "end_of_data"
    run.hasWrittenEnd = true
    // The end of the data ends the transaction, whatever the answer is (RFC 5321 §4.1.1.4).
    run.session.needsReset = false
    verdict = wire.read(timeouts.end_of_data_ms)
    if (extensions.has("PIPELINING") && !wire.hasEnded) run.passOn()
  })
  return verdict ?? wire.read(timeouts.end_of_data_ms)
}

const END = Buffer.from(".\r\n")

/**
 * The two sides no longer agree where the message ends, so the session is over; acceptance of half a message does not
 * count.
 */
const early = async (run: Run): Promise<WireReply> => {
  run.session.isClosed = true
  const reply = await run.session.wire.read(0)
  run.session.wire.destroy()
  if (isPositive(reply)) throw new WireError("protocol", `${reply.code} before the end of the message`)
  return reply
}

/** Domains are A-labels here, so only a local part can need RFC 6531. */
export const isUtf8 = (address: string): boolean => /[^\0-\x7f]/.test(address.slice(0, address.lastIndexOf("@")))

/** Returns the refusal that is known before any command is sent. */
const unsupported = ({ extensions }: Session, { body, from, to, utf8 }: Transaction): Reply.Reply | undefined => {
  if ([from, ...to].some((address) => /[\r\n\0]/u.test(address))) {
    return { code: 501, enhancedCode: "5.5.4", text: "an address of the envelope contains a line break", stage: "mail" }
  }
  if (utf8 && !extensions.has("SMTPUTF8")) {
    const text = "the server does not support SMTPUTF8, which this message needs"
    return { code: 550, enhancedCode: "5.6.7", text, stage: "ehlo" }
  }
  const limit = Number(extensions.get("SIZE") ?? 0)
  if (Number.isSafeInteger(limit) && limit > 0 && body.size > limit) {
    const text = `the message has ${body.size} bytes, the server accepts at most ${limit}: message too large`
    return { code: 552, enhancedCode: "5.3.4", text, stage: "ehlo" }
  }
  return undefined
}

const isPositive = (reply: WireReply): boolean => reply.code >= 200 && reply.code < 300

const refused = (run: Run, reply: WireReply): RecipientReply =>
  // A code without a meaning here: the two sides are out of step.
  reply.code >= 400
    ? { _tag: "Refused", reply: toReply(reply, run.stage) }
    : { _tag: "Lost", stage: run.stage, detail: `unexpected reply ${reply.code}`, ambiguous: run.hasWrittenEnd }

const refuseAll = (run: Run, reply: WireReply): void => {
  // RFC 5321 §3.8: a server that replies 421 is closing.
  if (reply.code === 421 || reply.code < 400) {
    run.session.isClosed = true
    run.session.wire.destroy()
  }
  answerRest(run, refused(run, reply))
}

const answerRest = (run: Run, answer: RecipientReply): void => {
  for (const i of run.transaction.to.keys()) if (!run.answers.has(i)) run.answers.set(i, answer)
}

const toReply = (reply: WireReply, stage: ReplyClass.Stage): Reply.Reply =>
  Reply.parse(reply.lines.join("\n"), stage) ?? { code: reply.code, enhancedCode: undefined, text: "", stage }
