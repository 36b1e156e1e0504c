/** The style sheet with the colours of HTML documents and of the console, for light and dark screens. */
export const COLORS = `/* The colours of the console and of the migration report. */
:root {
  color-scheme: light dark;
  --page: light-dark(#f7f7f5, #15171b);
  --card: light-dark(#fff, #1c1f24);
  --sunk: light-dark(#f2f3f1, #181a1f);
  --ink: light-dark(#1d2129, #e5e8ee);
  --quiet: light-dark(#5b6370, #a0a9b8);
  --line: light-dark(#e2e3df, #2f343d);
  --accent: light-dark(#2350c7, #8fadff);
  --good: light-dark(#0b6a3a, #63d49b);
  --warn: light-dark(#8a4a00, #f0b662);
  --bad: light-dark(#b1162a, #ff8e98);
  --alpha: light-dark(#d08324, #d89a4c);
  --native: light-dark(#2c8a63, #4fb98b);
}
.tag {
  color: var(--quiet);
}
.tag.good {
  color: var(--good);
}
.tag.warn {
  color: var(--warn);
}
.tag.bad {
  color: var(--bad);
}
`;
