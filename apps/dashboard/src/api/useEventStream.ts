import { useEffect, useRef, useState } from "react"
import type { EventRecord } from "./Records.ts"
import { OURS } from "./Api.ts"

/** After a stream that broke; the server ends each after some minutes, and then we are back at once. */
const PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 30_000

export type Liveness = "connecting" | "live" | "off"

interface Frame {
  readonly event: string
  readonly id: string
  readonly data: string
}

/** Server-sent events by hand: the browser's own reader sends no headers, and ours has to. */
async function* frames(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Frame> {
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

interface Follow {
  readonly types: ReadonlyArray<string>
  readonly enabled: boolean
  readonly onEvent: (event: EventRecord) => void
  /** The stream begins now: what happened between the last look and this moment is in no event. */
  readonly onBegin: () => void
}

/** Follows the account's history while a screen is open and its tab is seen. */
export const useLive = ({ enabled, onBegin, onEvent, types }: Follow): Liveness => {
  const [liveness, setLiveness] = useState<Liveness>("off")
  const handlers = useRef({ onBegin, onEvent })
  useEffect(() => {
    handlers.current = { onBegin, onEvent }
  })
  const asked = types.join(",")

  useEffect(() => {
    if (!enabled) {
      setLiveness("off")
      return undefined
    }
    const stop = new AbortController()
    void follow(asked, stop.signal, setLiveness, handlers)
    return () => stop.abort()
  }, [asked, enabled])

  return liveness
}

const follow = async (
  types: string,
  signal: AbortSignal,
  tell: (liveness: Liveness) => void,
  handlers: { readonly current: Pick<Follow, "onBegin" | "onEvent"> },
): Promise<void> => {
  let last: string | undefined
  let pause = PAUSE_MS
  while (!signal.aborted) {
    tell("connecting")
    try {
      const response = await fetch(`/v1/events/stream?types=${encodeURIComponent(types)}`, {
        headers: { ...OURS, ...(last === undefined ? {} : { "last-event-id": last }) },
        signal,
      })
      // No right to the stream: the screen asks now and then instead.
      if (response.status === 401 || response.status === 403) return tell("off")
      if (!response.ok || response.body === null) throw new Error("no stream")
      tell("live")
      pause = PAUSE_MS
      if (last === undefined) handlers.current.onBegin()
      for await (const frame of frames(response.body)) {
        if (frame.id !== "") last = frame.id
        if (frame.event === "message") handlers.current.onEvent(JSON.parse(frame.data) as EventRecord)
      }
    } catch {
      if (signal.aborted) return
      tell("connecting")
      await new Promise((resolve) => setTimeout(resolve, pause))
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
  }
}
