import { instance } from "../api/instance.ts"

/** Says that no mail leaves this installation. */
export const SandboxMark = () =>
  instance.transport === "capture" ? (
    <span
      title="Sandbox: mail is kept here and never delivered. Set TRANSPORT to send it."
      className="rounded-md border border-line px-1.5 text-[11px] font-medium text-ink-3"
    >
      Sandbox
    </span>
  ) : undefined
