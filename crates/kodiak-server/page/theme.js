// Applies the chosen theme before the first paint, and lets the button change it. A
// classic script, because modules run after the page was painted once.
{
  const choices = ["auto", "light", "dark"];
  const names = { auto: "as the system", light: "light", dark: "dark" };
  const root = document.documentElement;
  const stored = () => {
    try {
      return choices.find((it) => it === localStorage.getItem("theme")) ?? "auto";
    } catch {
      return "auto";
    }
  };
  const apply = (choice) => {
    if (choice === "auto") delete root.dataset.theme;
    else root.dataset.theme = choice;
    const button = document.getElementById("theme");
    button?.setAttribute("aria-label", `Theme: ${names[choice]}`);
    button?.setAttribute("title", `Theme: ${names[choice]}`);
    if (button) button.dataset.choice = choice;
  };
  apply(stored());
  addEventListener("DOMContentLoaded", () => {
    apply(stored());
    document.getElementById("theme").addEventListener("click", () => {
      const next = choices[(choices.indexOf(stored()) + 1) % choices.length];
      try {
        localStorage.setItem("theme", next);
      } catch {
        // Without storage the choice lasts until the page is loaded again.
      }
      apply(next);
    });
  });
  addEventListener("storage", (event) => event.key === "theme" && apply(stored()));
}
