import { Check, Copy } from "lucide-react"
import { useEffect, useState } from "react"
import { cx } from "../display/cx.ts"

const COPIED_SHOWN_MS = 1_400

/** Copies with `execCommand` where the clipboard API is missing: browsers offer it only on https and localhost. */
export const copy = async (text: string): Promise<void> => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement("textarea")
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand("copy")
  area.remove()
}

interface Props {
  readonly text: string
  readonly label?: string
  readonly className?: string
}

export const CopyButton = ({ className, label = "Copy", text }: Props) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), COPIED_SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      onClick={() => void copy(text).then(() => setCopied(true))}
      aria-label={copied ? "Copied" : label}
      title={label}
      className={cx(
        "inline-flex size-6 shrink-0 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink",
        className,
      )}
    >
      {copied ? <Check size={14} className="text-good" /> : <Copy size={13} />}
    </button>
  )
}

/** Read-only text on one line with a copy button. */
export const CopyField = ({ className, label, text }: Props) => (
  <div className={cx("flex items-center gap-1 rounded-lg border border-line bg-sunken pr-1 pl-2.5", className)}>
    <code className="min-w-0 grow truncate py-2 font-mono text-xs text-ink" title={text}>
      {text}
    </code>
    <CopyButton text={text} {...(label === undefined ? {} : { label })} />
  </div>
)
