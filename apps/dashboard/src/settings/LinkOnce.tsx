import type { MemberLink } from "../api/Records.ts"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { formatDateTime } from "../ui/display/Time.tsx"
import { DialogBody } from "../ui/feedback/Dialog.tsx"

/** A link that sets a password, which is shown only once. */
export const LinkOnce = ({ link, onDone }: { readonly link: MemberLink; readonly onDone: () => void }) => (
  <DialogBody onDone={onDone}>
    <CopyField text={link.url ?? ""} label="Copy link" />
    <p className="text-xs text-ink-3">Valid for one use, until {formatDateTime(link.expires_at)}.</p>
  </DialogBody>
)
