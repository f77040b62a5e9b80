import type { ReactNode } from "react"
import { CodeExamples, type Example } from "../controls/Code.tsx"

interface Props {
  readonly icon: ReactNode
  readonly title: string
  readonly children: ReactNode
  readonly action?: ReactNode
  readonly examples?: ReadonlyArray<Example>
  /** Level of the heading: 1 where nothing else is on the screen. */
  readonly level?: 1 | 2
}

/** Shown for an empty list: says what appears here and how to create the first one. */
export const EmptyState = ({ action, children, examples, icon, level = 2, title }: Props) => {
  const Heading = level === 1 ? "h1" : "h2"
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      <div className="flex size-11 items-center justify-center rounded-xl border border-line bg-sunken text-ink-2">
        {icon}
      </div>
      <Heading className="mt-4 text-lg font-semibold tracking-tight">{title}</Heading>
      <div className="mt-1 max-w-md text-sm text-ink-2">{children}</div>
      {action === undefined ? undefined : <div className="mt-5 max-w-full">{action}</div>}
      {examples === undefined ? undefined : (
        <div className="mt-8 w-full max-w-2xl text-left">
          <CodeExamples examples={examples} />
        </div>
      )}
    </div>
  )
}
