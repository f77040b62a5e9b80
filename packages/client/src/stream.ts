import { again, type Call, type Sender } from "./request.ts"
import type { Event, EventStreamPing } from "./types.ts"

export interface StreamQuery {
  /** Where to begin: after this position, else from now on. */
  readonly after_position?: string
  readonly types?: readonly string[]
  /** Ends the stream. */
  readonly signal?: AbortSignal
}

/** Events as they are written. A stream that ends or is cut is taken up again where it was, so none is left out. */
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
    const { patience, response } = await open(call)
    try {
      for await (const message of messages(response, patience.renew)) {
        position = message.position
        if ("type" in message) yield message
      }
    } catch (cause) {
      if (signal?.aborted === true) throw cause
    } finally {
      patience.end()
    }
    await again(0, signal)
  }
}

/** Server-sent events, each a block of lines of which one holds its data. */
async function* messages(response: Response, heard: () => void): AsyncGenerator<Event | EventStreamPing> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    let rest = ""
    for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
      heard()
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
