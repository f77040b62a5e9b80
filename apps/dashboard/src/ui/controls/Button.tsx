import type { ButtonHTMLAttributes, ReactNode } from "react"
import { cx } from "../display/cx.ts"

const VARIANTS = {
  primary: "bg-solid text-solid-ink hover:bg-solid-hover border-transparent",
  secondary: "bg-raised text-ink border-line-strong hover:bg-hover",
  ghost: "bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-bad text-white dark:text-[#2a0b09] border-transparent hover:brightness-95",
} as const

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: keyof typeof VARIANTS
  readonly small?: boolean
  /** Whether a request is in progress; the button is disabled meanwhile. */
  readonly busy?: boolean
  readonly icon?: ReactNode
}

export const Button = ({
  busy = false,
  children,
  className,
  disabled,
  icon,
  small = false,
  type = "button",
  variant = "secondary",
  ...rest
}: Props) => (
  <button
    type={type}
    disabled={disabled === true || busy}
    aria-busy={busy || undefined}
    className={cx(
      "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors duration-100 select-none disabled:opacity-50",
      small ? "h-7 px-2.5 text-xs" : "h-8 px-3 text-sm",
      VARIANTS[variant],
      className,
    )}
    {...rest}
  >
    {icon}
    {children}
  </button>
)

interface IconProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Accessible name and tooltip. */
  readonly label: string
  /** Whether what it switches is on. */
  readonly isPressed?: boolean
}

export const IconButton = ({ children, className, isPressed, label, type = "button", ...rest }: IconProps) => (
  <button
    type={type}
    aria-label={label}
    aria-pressed={isPressed}
    title={label}
    className={cx(
      "inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 transition-colors duration-100 hover:bg-hover hover:text-ink disabled:opacity-40",
      isPressed === true && "bg-hover",
      className,
    )}
    {...rest}
  >
    {children}
  </button>
)
