import { type MessagePort, parentPort } from "node:worker_threads"
import * as ReadModels from "../../commit/ReadModels.ts"
import * as Connection from "../versions/Connection.ts"
import type { ThreadAnswer, ThreadData, ThreadFailure, ThreadJob } from "./FoldThread.ts"
import { SliceFold } from "./SliceFold.ts"

/** Main loop of a thread: folds the range of each message on a connection of its own, until a message has none. */
export const serve = async ({ columns, model, url }: ThreadData): Promise<void> => {
  const port = parentPort as MessagePort
  const readModel = ReadModels.readModels.find(({ name }) => name === model)
  if (readModel === undefined) throw new Error(`there is no read model ${model}`)
  const client = await Connection.open(url, { application_name: "waybill fold" })
  const slices = new SliceFold(client, readModel, columns)
  port.on("message", async ({ buffer, range }: ThreadJob) => {
    if (range === undefined) {
      port.close()
      return client.end()
    }
    try {
      const folded = await slices.fold(range, buffer)
      port.postMessage(folded satisfies ThreadAnswer, [folded.rows.buffer])
    } catch (cause) {
      port.postMessage(failureOf(cause))
    }
  })
  port.postMessage({ started: true } satisfies ThreadAnswer)
}

const failureOf = (cause: unknown): ThreadFailure => ({
  failure: cause instanceof Error ? cause.message : String(cause),
  code: cause instanceof Error && "code" in cause ? String(cause.code) : undefined,
})
