import { type Call, reconnectPause, type Sender } from "./Sender.ts"
import type { Event, EventsQuery, EventStreamPing } from "./types.ts"

/** Starts with new events, unless with the first after a position, or at or after a time. */
export interface StreamQuery extends Pick<EventsQuery, "after_position" | "created_after" | "types" | "include"> {
  /**
   * Called with each position that the stream reached, also while there are no events. Start there to continue after a
   * failure. An event's position is reported when the next event is requested.
   */
  readonly onPosition?: (position: string) => void
  /** Ends the stream, which throws the reason of the signal then. */
  readonly signal?: AbortSignal
}

/**
 * Iterates over events as they happen. A stream that ends or breaks continues at the last position, so no event is
 * lost.
 */
export async function* streamEvents(
  { open }: Sender,
  { after_position, created_after, include, onPosition, signal, types }: StreamQuery,
): AsyncGenerator<Event, void, undefined> {
  for (let position = after_position; ;) {
    const call: Call = {
      method: "GET",
      path: "/events/stream",
      query: {
        after_position: position,
        created_after: position === undefined ? created_after : undefined,
        types,
        include,
      },
      ...(signal === undefined ? {} : { signal }),
    }
    const { response, timeout } = await open(call)
    try {
      for await (const message of messages(response, timeout.renew)) {
        // Several events may have come at once.
        signal?.throwIfAborted()
        position = message.position
        if ("type" in message) yield message
        onPosition?.(position)
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
