import { useState } from "react"
import { Moon, Sun } from "lucide-react"
import { IconButton } from "../../ui/controls/Button.tsx"
import { SegmentedControl } from "../../ui/controls/SegmentedControl.tsx"
import { PlainText } from "./MessageParts.tsx"
import { PreviewFrame } from "./PreviewFrame.tsx"
import { Panel } from "../../ui/layout/Screen.tsx"

const SHAPES = [
  ["desktop", "Desktop"],
  ["phone", "Phone"],
  ["text", "Text"],
] as const

interface Props {
  readonly html: string
  readonly text: string
}

/** Shows the email that is written, as it is typed. */
export const ComposePreview = ({ html, text }: Props) => {
  const [chosen, setShape] = useState<(typeof SHAPES)[number][0]>()
  const [isDark, setDark] = useState(false)
  const hasHtml = html.trim() !== ""
  const shape = chosen ?? (hasHtml || text.trim() === "" ? "desktop" : "text")
  return (
    <Panel
      title="Preview"
      className="overflow-hidden"
      actions={
        <>
          <SegmentedControl label="Preview as" value={shape} options={SHAPES} onChange={setShape} />
          <IconButton label="Dark mode" isPressed={isDark} onClick={() => setDark(!isDark)}>
            {isDark ? <Sun size={15} /> : <Moon size={15} />}
          </IconButton>
        </>
      }
    >
      {shape === "text" ? (
        text.trim() !== "" ? (
          <PlainText text={text} />
        ) : (
          <p className="p-8 text-center text-sm text-ink-3">
            {hasHtml ? "The text is generated from the HTML when the email is sent." : "Nothing to preview yet."}
          </p>
        )
      ) : hasHtml ? (
        <PreviewFrame title="Email preview" html={html} isPhone={shape === "phone"} isDark={isDark} hasImages={false} />
      ) : (
        <p className="p-8 text-center text-sm text-ink-3">
          {text.trim() === "" ? "Nothing to preview yet." : "The email has no HTML."}
        </p>
      )}
    </Panel>
  )
}
