import { type Call, reconnectPause, type Sender } from "./Sender.ts"
import type { Event, EventStreamPing } from "./types.ts"

export interface StreamQuery {
  /** Starts after this position; without it, with new events. */
  readonly after_position?: string
  readonly types?: readonly string[]
  /** Ends the stream. */
  readonly signal?: AbortSignal
}

/**
 * Iterates over events as they happen. A stream that ends or breaks continues at the last position, so no event is
 * lost.
 */
export async function* streamEvents(
  { open }: Sender,
  { after_position, signal, types }: StreamQuery,
): AsyncGenerator<Event, void, undefined> {
  for (let position = after_position; ;) {
    const call: Call = {
      method: "GET",
      path: "/events/stream",
      query: { after_position: position, types: types?.join(",") },
      ...(signal === undefined ? {} : { signal }),
    }
    const { response, timeout } = await open(call)
    try {
      for await (const message of messages(response, timeout.renew)) {
        position = message.position
        if ("type" in message) yield message
      }
    } catch (cause) {
      if (signal?.aborted === true) throw cause
    } finally {
      timeout.end()
    }
    await reconnectPause(0, signal)
  }
}

/** Parses server-sent events: blocks of lines, one of which has the data. */
async function* messages(response: Response, onData: () => void): AsyncGenerator<Event | EventStreamPing> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    let rest = ""
    for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
      onData()
      const blocks = (rest + read.value).split("\n\n")
      rest = blocks.pop() ?? ""
      for (const block of blocks) {
        const data = /^data: ?(.*)$/m.exec(block)?.[1]
        if (data !== undefined) yield JSON.parse(data) as Event | EventStreamPing
      }
    }
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}
