import { Image, ImageOff, Monitor, Moon, Smartphone, Sun, Type } from "lucide-react"
import { useState } from "react"
import { PlainText } from "../../emails/MessageParts.tsx"
import { IconButton } from "../../ui/controls/Button.tsx"
import { cx } from "../../ui/display/cx.ts"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { SkeletonRows } from "../../ui/feedback/Skeleton.tsx"
import { Panel } from "../../ui/layout/Panel.tsx"
import { PreviewFrame } from "./PreviewFrame.tsx"
import * as Form from "./Form.ts"
import * as Problems from "./Problems.ts"
import type { Trial } from "./useTrial.ts"

/** Below this, the narrow layout of an email is easier to read than a scaled one. */
const NARROW_PX = 640

/** Shows a mail as readers get it: on a desktop, on a phone, in the dark, and as plain text. */
export const Preview = ({ locale, trial }: { readonly trial: Trial; readonly locale: string | null }) => {
  const [shape, setShape] = useState<"desktop" | "phone" | "text">(window.innerWidth < NARROW_PX ? "phone" : "desktop")
  const [isDark, setIsDark] = useState(false)
  const [hasImages, setHasImages] = useState(false)
  const { isCurrent, problems, rendered } = trial
  const shapes = [
    ["desktop", "Desktop width", Monitor],
    ["phone", "Phone width", Smartphone],
    ["text", "Plain text", Type],
  ] as const
  return (
    <Panel className="min-w-0 overflow-hidden lg:sticky lg:top-6">
      <div className="flex items-center gap-1 border-b border-line px-3 py-1.5">
        <h2 className="mr-2 text-sm font-semibold">Preview</h2>
        {shapes.map(([name, label, Icon]) => (
          <IconButton
            key={name}
            label={label}
            aria-pressed={shape === name}
            onClick={() => setShape(name)}
            className={cx(shape === name && "bg-hover")}
          >
            <Icon size={15} />
          </IconButton>
        ))}
        <IconButton
          label="Dark mode"
          aria-pressed={isDark}
          onClick={() => setIsDark(!isDark)}
          className={cx(isDark && "bg-hover")}
        >
          {isDark ? <Sun size={15} /> : <Moon size={15} />}
        </IconButton>
        <span className="grow" />
        <IconButton
          label={hasImages ? "Hide remote images" : "Load remote images"}
          onClick={() => setHasImages(!hasImages)}
        >
          {hasImages ? <ImageOff size={15} /> : <Image size={15} />}
        </IconButton>
      </div>
      <ProblemList problems={problems} />
      {rendered === undefined ? (
        problems.length > 0 ? undefined : (
          <SkeletonRows rows={4} />
        )
      ) : (
        <div aria-busy={!isCurrent}>
          {problems.length > 0 ? (
            <p className="border-b border-line bg-sunken px-4 py-1.5 text-xs text-ink-2">
              Shows the last text without problems.
            </p>
          ) : undefined}
          <p className="border-b border-line px-4 py-2.5 text-sm break-words">
            <span className="text-xs text-ink-3">
              Subject{locale === null ? "" : ` (${rendered.locale ?? "own language"})`}
            </span>
            <br />
            {rendered.subject === null || rendered.subject === "" ? (
              <span className="text-ink-3">None</span>
            ) : (
              <strong className="font-medium">
                <UntrustedText text={rendered.subject} />
              </strong>
            )}
          </p>
          {shape === "text" ? (
            rendered.text === null ? (
              <p className="p-8 text-center text-sm text-ink-3">No text. It is derived from the HTML.</p>
            ) : (
              <PlainText text={rendered.text} />
            )
          ) : rendered.html === null ? (
            <p className="p-8 text-center text-sm text-ink-3">No HTML.</p>
          ) : (
            <PreviewFrame html={rendered.html} isPhone={shape === "phone"} isDark={isDark} hasImages={hasImages} />
          )}
          <Warnings warnings={rendered.warnings} />
        </div>
      )}
    </Panel>
  )
}

const ProblemList = ({ problems }: { readonly problems: ReadonlyArray<Problems.TextProblem> }) => (
  <div role="status">
    {problems.length === 0 ? undefined : (
      <ul
        aria-label="Problems"
        className="flex flex-col gap-1 border-b border-line bg-bad-soft px-4 py-2.5 text-sm text-bad"
      >
        {problems.map(({ column, line, message, path }, index) => (
          <li key={index} className="break-words">
            {path === "" ? undefined : (
              <strong className="font-medium">
                {path === Problems.SAMPLE ? "Sample values" : Form.labelOf(path)}
                {line === undefined ? "" : `, line ${line}, column ${column ?? 1}`}:{" "}
              </strong>
            )}
            <UntrustedText text={Problems.sentence(message)} />
          </li>
        ))}
      </ul>
    )}
  </div>
)

const Warnings = ({ warnings }: { readonly warnings: NonNullable<Trial["rendered"]>["warnings"] }) =>
  warnings.length === 0 ? undefined : (
    <ul
      aria-label="Warnings"
      className="flex flex-col gap-1 border-t border-line bg-warn-soft px-4 py-2.5 text-sm text-warn"
    >
      {warnings.map(({ message, path }, index) => (
        <li key={index} className="break-words">
          <strong className="font-medium">{Form.labelOf(path)}: </strong>
          <UntrustedText text={Problems.sentence(message)} />
        </li>
      ))}
    </ul>
  )
