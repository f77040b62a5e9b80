import { useEffect, useRef, useState } from "react"
import * as EarlyReads from "../early/EarlyReads.ts"
import * as Connection from "./Connection.ts"
import * as Mode from "./Mode.ts"
import type { EventRecord } from "./Records.ts"

/** First pause before reconnecting after an error; doubled at each further error. */
const PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 30_000

/** `reconnecting`: the stream broke, and what happened since is not shown yet. */
export type StreamState = "connecting" | "live" | "reconnecting" | "off"

interface ServerSentEvent {
  readonly event: string
  readonly id: string
  readonly data: string
}

/** Parses server-sent events. `EventSource` cannot be used: it sends no custom headers. */
async function* serverSentEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough<string>(new TextDecoderStream()).getReader()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    let end = text.indexOf("\n\n")
    while (end >= 0) {
      const fields = new Map(
        text
          .slice(0, end)
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]),
      )
      yield { event: fields.get("event") ?? "message", id: fields.get("id") ?? "", data: fields.get("data") ?? "" }
      text = text.slice(end + 2)
      end = text.indexOf("\n\n")
    }
  }
}

interface Options {
  readonly types: ReadonlyArray<string>
  readonly enabled: boolean
  readonly onEvent: (event: EventRecord) => void
  /** Called when the stream starts. Events between the last fetch and this moment are not in the stream, so fetch again. */
  readonly onStart: () => void
}

/** Follows the event stream of the account while the component is mounted. */
export const useEventStream = ({ enabled, onEvent, onStart, types }: Options): StreamState => {
  const [state, setState] = useState<StreamState>("off")
  const handlers = useRef({ onStart, onEvent })
  useEffect(() => {
    handlers.current = { onStart, onEvent }
  })
  const typeList = types.join(",")

  useEffect(() => {
    if (!enabled) {
      setState("off")
      return undefined
    }
    const abort = new AbortController()
    void follow(typeList, abort.signal, setState, handlers)
    return () => abort.abort()
  }, [enabled, typeList])

  return state
}

const follow = async (
  types: string,
  signal: AbortSignal,
  setState: (state: StreamState) => void,
  handlers: { readonly current: Pick<Options, "onStart" | "onEvent"> },
): Promise<void> => {
  let lastId: string | undefined
  let pause = PAUSE_MS
  setState("connecting")
  while (!signal.aborted) {
    const attempt = new AbortController()
    const end = () => attempt.abort()
    signal.addEventListener("abort", end)
    // A connection may not notice for minutes that its network is gone.
    window.addEventListener("offline", end)
    try {
      const response = await fetch(`/v1${Mode.withMode(`/events/stream?types=${encodeURIComponent(types)}`)}`, {
        headers: { ...EarlyReads.DASHBOARD_HEADERS, ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
        signal: attempt.signal,
      })
      // Without permission for the stream the caller polls instead.
      if (response.status === 401 || response.status === 403) return setState("off")
      if (!response.ok || response.body === null) throw new Error("no stream")
      setState("live")
      pause = PAUSE_MS
      if (lastId === undefined) handlers.current.onStart()
      for await (const message of serverSentEvents(response.body)) {
        if (message.id !== "") lastId = message.id
        if (message.event === "message") handlers.current.onEvent(JSON.parse(message.data) as EventRecord)
      }
      // The server ends each stream after some minutes; the loop reconnects at once.
    } catch {
      if (signal.aborted) return
      setState("reconnecting")
      await Promise.race([Connection.untilOnline(), new Promise((resolve) => setTimeout(resolve, pause))])
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    } finally {
      signal.removeEventListener("abort", end)
      window.removeEventListener("offline", end)
    }
  }
}
