import { ArrowDown, ArrowUp, GripVertical, Pause, Pencil, Play, Trash2 } from "lucide-react"
import type { DragEvent, KeyboardEvent } from "react"
import type { InboundRoute, Webhook } from "../api/Records.ts"
import { MoreMenu } from "../ui/controls/Menu.tsx"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { cx } from "../ui/display/cx.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { conditionsOf, isEnd, wordsOf } from "./RouteActions.tsx"

interface Props {
  readonly route: InboundRoute
  readonly webhooks: ReadonlyArray<Webhook>
  readonly index: number
  readonly count: number
  readonly isDropTarget: boolean
  /** Moves the route by so many places. */
  readonly onMove: (step: number) => void
  readonly onDrag: (event: DragEvent, phase: "start" | "over" | "drop" | "end") => void
  readonly onEdit: () => void
  readonly onEnable: (enabled: boolean) => void
  readonly onRemove: () => void
}

/** One route of the list: its place, what it is for and what it does. Its handle is dragged, or moved by arrow keys. */
export const RouteRow = (props: Props) => {
  const { count, index, isDropTarget, onDrag, onEdit, onEnable, onMove, onRemove, route, webhooks } = props
  const moveByKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return
    event.preventDefault()
    onMove(event.key === "ArrowUp" ? -1 : 1)
  }
  return (
    <li
      id={route.id}
      onDragOver={(event) => onDrag(event, "over")}
      onDrop={(event) => onDrag(event, "drop")}
      className={cx("flex items-start gap-2 py-2.5 pr-2 pl-1 sm:pl-2", isDropTarget && "bg-hover")}
    >
      <button
        type="button"
        draggable
        aria-label={`Move route ${index + 1}`}
        title="Drag, or press the up and down arrow keys"
        onDragStart={(event) => onDrag(event, "start")}
        onDragEnd={(event) => onDrag(event, "end")}
        onKeyDown={moveByKey}
        className="inline-flex size-8 shrink-0 cursor-grab items-center justify-center rounded-lg text-ink-3 hover:bg-hover hover:text-ink active:cursor-grabbing"
      >
        <GripVertical size={16} />
      </button>
      <span className="tabular mt-1.5 w-5 shrink-0 text-right text-sm text-ink-3">{index + 1}.</span>
      <div className={cx("mt-1.5 min-w-0 grow text-sm [overflow-wrap:anywhere]", !route.enabled && "text-ink-3")}>
        <UntrustedText as="p" className="font-medium" text={conditionsOf(route.match)} />
        <UntrustedText as="p" className={cx("mt-0.5", route.enabled && "text-ink-2")} text={wordsOf(route, webhooks)} />
      </div>
      <div className="mt-1.5 flex shrink-0 flex-col items-end gap-1 sm:flex-row sm:items-center">
        {isEnd(route) ? <Badge>Stops</Badge> : undefined}
        <StatusBadge status={route.enabled ? "enabled" : "disabled"} />
      </div>
      <MoreMenu
        label={`Actions of route ${index + 1}`}
        items={[
          { name: "Edit", icon: <Pencil size={15} />, onSelect: onEdit },
          { name: "Move up", icon: <ArrowUp size={15} />, disabled: index === 0, onSelect: () => onMove(-1) },
          {
            name: "Move down",
            icon: <ArrowDown size={15} />,
            disabled: index === count - 1,
            onSelect: () => onMove(1),
          },
          route.enabled
            ? { name: "Disable", icon: <Pause size={15} />, onSelect: () => onEnable(false) }
            : { name: "Enable", icon: <Play size={15} />, onSelect: () => onEnable(true) },
          "separator",
          { name: "Delete", icon: <Trash2 size={15} />, danger: true, onSelect: onRemove },
        ]}
      />
    </li>
  )
}
