import { Menu as Base } from "@base-ui/react/menu"
import { MoreHorizontal } from "lucide-react"
import type { ReactElement, ReactNode } from "react"
import { IconButton } from "./Button.tsx"
import { cx } from "../display/cx.ts"

export interface MenuItem {
  readonly name: string
  readonly icon?: ReactNode
  readonly onSelect: () => void
  readonly danger?: boolean
  readonly disabled?: boolean
}

interface Props {
  readonly trigger: ReactElement<Record<string, unknown>>
  /** Items that are `false` are left out. */
  readonly items: ReadonlyArray<MenuItem | "separator" | false>
  readonly align?: "start" | "end"
  readonly header?: ReactNode
}

export const Menu = ({ align = "end", header, items, trigger }: Props) => (
  <Base.Root>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner sideOffset={6} align={align} className="z-50">
        <Base.Popup className="popup min-w-48 rounded-xl border border-line bg-raised p-1 shadow-float outline-none">
          {header}
          {items.map((item, index) =>
            item === false ? undefined : item === "separator" ? (
              <Base.Separator key={index} className="my-1 h-px bg-line" />
            ) : (
              <Base.Item
                key={item.name}
                onClick={item.onSelect}
                disabled={item.disabled === true}
                className={cx(
                  "flex h-8 cursor-default items-center gap-2.5 rounded-lg px-2.5 text-sm outline-none select-none data-disabled:opacity-45 data-highlighted:bg-hover",
                  item.danger === true ? "text-bad" : "text-ink",
                )}
              >
                {item.icon}
                {item.name}
              </Base.Item>
            ),
          )}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

interface MoreProps extends Pick<Props, "header" | "items"> {
  readonly label: string
  /** Whether it stands beside buttons of a screen. */
  readonly isFramed?: boolean
}

/** A menu of further actions, behind three dots. */
export const MoreMenu = ({ isFramed = false, label, ...menu }: MoreProps) => (
  <Menu
    {...menu}
    trigger={
      <IconButton label={label} className={cx(isFramed && "border border-line-strong bg-raised")}>
        <MoreHorizontal size={16} />
      </IconButton>
    }
  />
)
