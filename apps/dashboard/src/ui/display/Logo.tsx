export const Logo = ({ size = 22 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden className="shrink-0">
    <rect width="32" height="32" rx="8" className="fill-solid" />
    <path
      d="M7 10.5 11.2 21 16 11l4.8 10L25 10.5"
      fill="none"
      className="stroke-solid-ink"
      strokeWidth="2.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
    <path d="M9 25.5h14" className="stroke-stamp" strokeWidth="2.4" strokeLinecap="round" />
  </svg>
)
