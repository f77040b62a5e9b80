import { parentPort } from "node:worker_threads"
import * as Jobs from "./Jobs.ts"
import type { SubmittedMessage } from "../report/SubmittedMessage.ts"
import type { ThreadMessage, ParserJob } from "./ParserThread.ts"

const MAX_ERROR_CHARS = 500

/** Main loop of one thread: takes a job, answers, takes the next. `ParserThread` sends the jobs and ends the thread. */
const take = async ({ input, name }: ParserJob): Promise<ThreadMessage> => {
  const work = Jobs.jobs[name] as (input: Jobs.Input<Jobs.Name>) => unknown
  try {
    return { value: await work(input), cpu_ms: cpuMillis() }
  } catch (error) {
    const stack = error instanceof Error ? error.stack : undefined
    return { crash: (stack ?? String(error)).slice(0, MAX_ERROR_CHARS), cpu_ms: cpuMillis() }
  }
}

const cpuMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

/** Files this large are transferred instead of copied. Small ones may lie in a shared buffer. */
const MIN_TRANSFER_BYTES = 64 * 1024

const filesIn = ({ value }: ThreadMessage): Array<ArrayBuffer> => {
  const files = value instanceof Uint8Array ? [value] : ((value as Partial<SubmittedMessage> | undefined)?.files ?? [])
  const large = files.flatMap((file) => {
    const { buffer, length } = file instanceof Uint8Array ? file : file.bytes
    return length >= MIN_TRANSFER_BYTES && buffer instanceof ArrayBuffer ? [buffer] : []
  })
  return [...new Set(large)]
}

parentPort?.on("message", async (job: ParserJob) => {
  const answer = await take(job)
  parentPort?.postMessage(answer, filesIn(answer))
  // The heap of the thread is too small for its garbage to be collected soon, and the document is not in it.
  const { buffer } = Jobs.bytesOf(job.input) ?? {}
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
})
// A port has no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage({ value: undefined, cpu_ms: cpuMillis() } satisfies ThreadMessage)
