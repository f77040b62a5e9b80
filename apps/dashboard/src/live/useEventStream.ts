import { useEffect, useRef, useState } from "react"
import type { EventRecord } from "../api/Records.ts"
import * as EventStream from "./EventStream.ts"

interface Options {
  readonly types: ReadonlyArray<EventStream.Type>
  readonly enabled: boolean
  readonly onEvent: (event: EventRecord) => void
  /** Called when events may be missing: fetch again. */
  readonly onStart: () => void
}

/** Follows the event stream of the account while the component is mounted. All screens of a tab share the stream. */
export const useEventStream = ({ enabled, onEvent, onStart, types }: Options): EventStream.State => {
  const [state, setState] = useState<EventStream.State>("off")
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
    return EventStream.join({
      types: new Set(typeList.split(",")),
      onEvent: (event) => handlers.current.onEvent(event),
      onStart: () => handlers.current.onStart(),
      onState: setState,
    })
  }, [enabled, typeList])

  return state
}
