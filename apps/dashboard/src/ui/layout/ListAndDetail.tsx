import { ArrowLeft } from "lucide-react"
import type { ReactNode } from "react"
import { Button } from "../controls/Button.tsx"
import { cx } from "../display/cx.ts"
import { Panel } from "./Panel.tsx"

interface Props {
  /** Accessible name of the list, to which the button on narrow screens leads back. */
  readonly label: string
  readonly rows: ReactNode
  readonly detail: ReactNode
  /** Whether the user chose a row, rather than being shown the first one. */
  readonly isChosen: boolean
  readonly onBack: () => void
}

/** A list beside the record that is chosen in it. On narrow screens, the list, and then the record in its place. */
export const ListAndDetail = ({ detail, isChosen, label, onBack, rows }: Props) => (
  <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
    <Panel className={cx("overflow-hidden lg:sticky lg:top-6", isChosen && "max-lg:hidden")}>
      <ul aria-label={label} className="divide-y divide-line lg:max-h-[calc(100dvh-10rem)] lg:overflow-y-auto">
        {rows}
      </ul>
    </Panel>
    <div className={cx("flex min-w-0 flex-col gap-3", !isChosen && "max-lg:hidden")}>
      <span className="lg:hidden">
        <Button small variant="ghost" icon={<ArrowLeft size={14} />} onClick={onBack}>
          {label}
        </Button>
      </span>
      {detail}
    </div>
  </div>
)
