import { Image, ImageOff, Monitor, Smartphone } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { CodeBlock } from "../ui/display/Code.tsx"
import { cx } from "../ui/display/cx.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

/** Preview of untrusted HTML in a sandboxed frame without scripts. Remote images load only on request. */
export const HtmlFrame = ({ id }: { readonly id: string }) => {
  const [images, setImages] = useState(false)
  const [isNarrow, setIsNarrow] = useState(false)
  return (
    <div>
      <div className="flex items-center gap-1 border-b border-line px-3 py-1.5">
        <IconButton
          label="Desktop width"
          aria-pressed={!isNarrow}
          onClick={() => setIsNarrow(false)}
          className={cx(!isNarrow && "bg-hover")}
        >
          <Monitor size={15} />
        </IconButton>
        <IconButton
          label="Phone width"
          aria-pressed={isNarrow}
          onClick={() => setIsNarrow(true)}
          className={cx(isNarrow && "bg-hover")}
        >
          <Smartphone size={15} />
        </IconButton>
        <span className="grow" />
        <Button
          small
          variant="ghost"
          icon={images ? <ImageOff size={14} /> : <Image size={14} />}
          onClick={() => setImages(!images)}
        >
          {images ? "Hide remote images" : "Load remote images"}
        </Button>
      </div>
      <div className="flex justify-center bg-sunken">
        <iframe
          key={String(images)}
          title="Email preview"
          src={`/preview/emails/${id}${images ? "?images=1" : ""}`}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          className={cx("h-[34rem] w-full resize-y border-0 bg-white", isNarrow && "max-w-[390px]")}
        />
      </div>
    </div>
  )
}

export const PlainText = ({ text }: { readonly text: string }) => (
  <pre
    tabIndex={0}
    aria-label="Plain text"
    className="max-h-[36rem] overflow-auto p-4 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap"
  >
    {text}
  </pre>
)

export const Source = ({ label, text }: { readonly text: string; readonly label: string }) => (
  <div className="max-h-[36rem] overflow-auto p-4">
    <CodeBlock code={text} label={label} />
  </div>
)

export const HeaderList = ({
  headers,
}: {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
}) => (
  <dl className="divide-y divide-line">
    {headers.map(({ name, value }, index) => (
      <div key={index} className="grid gap-x-4 px-4 py-2 text-xs sm:grid-cols-[11rem_1fr]">
        <dt className="font-medium text-ink-2">
          <UntrustedText text={name} />
        </dt>
        <dd className="min-w-0 font-mono break-all text-ink">
          <UntrustedText text={value} />
        </dd>
      </div>
    ))}
  </dl>
)
