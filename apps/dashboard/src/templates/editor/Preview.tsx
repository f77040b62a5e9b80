import { Image, ImageOff, Monitor, Moon, Smartphone, Sun, Type } from "lucide-react"
import { useState } from "react"
import type { RenderedTemplate } from "../../api/Records.ts"
import { hasRemoteImages } from "../../emails/compose/hasRemoteImages.ts"
import { PlainText } from "../../emails/compose/MessageParts.tsx"
import { IconButton } from "../../ui/controls/Button.tsx"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { SkeletonRows } from "../../ui/feedback/Skeleton.tsx"
import { ProblemList } from "./ProblemList.tsx"
import * as LanguageName from "./LanguageName.ts"
import { PreviewFrame } from "../../emails/compose/PreviewFrame.tsx"
import * as Problems from "../content/Problems.ts"
import type { Trial } from "./useTrial.ts"
import { Panel } from "../../ui/layout/Screen.tsx"

/** Below this, the narrow layout of an email is easier to read than a scaled one. */
const NARROW_PX = 640

interface Props {
  readonly trial: Trial
  readonly locale: string | null
  /** Shows the text that has a problem. */
  readonly onOpen: (problem: Problems.TextProblem) => void
}

/** Every template without a text has this, which is no fault. */
const isWithoutText = ({ message, path }: Problems.TextProblem): boolean =>
  path === "text" && message.startsWith("is missing")

/** Shows a mail as readers get it: on a desktop, on a phone, in the dark, and as plain text. */
export const Preview = ({ locale, onOpen, trial }: Props) => {
  const [shape, setShape] = useState<"desktop" | "phone" | "text">(window.innerWidth < NARROW_PX ? "phone" : "desktop")
  const [isDark, setIsDark] = useState(false)
  const [hasImages, setHasImages] = useState(false)
  const { isCurrent, problems, rendered } = trial
  const all = Problems.of(rendered?.warnings ?? [])
  const warnings = all.filter((warning) => !isWithoutText(warning))
  const isDerived = all.some(isWithoutText)
  const shapes = [
    ["desktop", "Desktop width", Monitor],
    ["phone", "Phone width", Smartphone],
    ["text", "Plain text", Type],
  ] as const
  return (
    <Panel className="min-w-0 overflow-hidden">
      <div className="flex items-center gap-1 border-b border-line px-3 py-1.5">
        <h2 className="mr-2 text-sm font-semibold">Preview</h2>
        {shapes.map(([name, label, Icon]) => (
          <IconButton key={name} label={label} isPressed={shape === name} onClick={() => setShape(name)}>
            <Icon size={15} />
          </IconButton>
        ))}
        <IconButton label="Dark mode" isPressed={isDark} onClick={() => setIsDark(!isDark)}>
          {isDark ? <Sun size={15} /> : <Moon size={15} />}
        </IconButton>
        <span className="grow" />
        {hasRemoteImages(rendered?.html ?? "") ? (
          <IconButton
            label={hasImages ? "Hide remote images" : "Load remote images"}
            onClick={() => setHasImages(!hasImages)}
          >
            {hasImages ? <ImageOff size={15} /> : <Image size={15} />}
          </IconButton>
        ) : undefined}
      </div>
      <div role="status">
        <ProblemList label="Problems" tone="bad" problems={problems} onOpen={onOpen} />
      </div>
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
          <InboxLine rendered={rendered} locale={locale} />
          {shape === "text" ? (
            rendered.text === null ? (
              <p className="p-8 text-center text-sm text-ink-3">No text.</p>
            ) : (
              <PlainText text={rendered.text} />
            )
          ) : rendered.html === null ? (
            <p className="p-8 text-center text-sm text-ink-3">No HTML.</p>
          ) : (
            <PreviewFrame
              title="Template preview"
              html={rendered.html}
              isPhone={shape === "phone"}
              isDark={isDark}
              hasImages={hasImages}
            />
          )}
          {warnings.length > 0 ? (
            <ProblemList label="Warnings" tone="warn" problems={warnings} onOpen={onOpen} />
          ) : undefined}
          {isDerived ? (
            <p className="px-4 py-2.5 text-xs text-ink-3">
              <button type="button" className="underline underline-offset-2" onClick={() => setShape("text")}>
                The text
              </button>{" "}
              is made from the HTML.
            </p>
          ) : undefined}
        </div>
      )}
    </Panel>
  )
}

/** How a list of mails shows it: sender, subject, and what stands beside it. */
const InboxLine = ({ locale, rendered }: { readonly rendered: RenderedTemplate; readonly locale: string | null }) => {
  const { from, preheader, subject } = rendered
  const beside = preheader ?? rendered.text?.replaceAll(/\s+/gu, " ").slice(0, BESIDE_CHARS) ?? ""
  return (
    <div className="border-b border-line px-4 py-2.5 text-sm">
      <p className="flex gap-2 text-xs text-ink-3">
        <span className="min-w-0 grow truncate" aria-label="Sender">
          {from === null ? "Sender of each message" : <UntrustedText text={from} />}
        </span>
        {locale === null ? undefined : <span className="shrink-0">{LanguageName.shown(rendered.locale)}</span>}
      </p>
      <p className="truncate" aria-label="Line in a list of mail">
        {subject === null || subject === "" ? (
          <span className="text-ink-3">No subject</span>
        ) : (
          <UntrustedText as="strong" className="font-medium" text={subject} />
        )}
        <span className="text-ink-3">
          {" – "}
          <UntrustedText text={beside} />
        </span>
      </p>
    </div>
  )
}

const BESIDE_CHARS = 140
