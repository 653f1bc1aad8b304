// The theme's search runs in a Worker, which browsers refuse to a page that was opened from a file. There a Worker is a hidden
// frame of the page that runs the same script. It exchanges messages with the page as a Worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      addEventListener("message", ({ source, data }) => {
        if (source === this.inside) this.dispatchEvent(new MessageEvent("message", { data }));
      });
      const script = (text) => `<script>${text}</` + "script>";
      this.inside.document.write(
        script(`
          var postMessage = (data) => parent.postMessage(data, "*");
          var importScripts = (...urls) => Promise.all(urls.map((url) => new Promise((done) => {
            const script = document.createElement("script");
            script.src = url;
            script.onload = done;
            document.head.append(script);
          })));`),
        `<script src="${url}"></` + "script>",
      );
      this.ready = new Promise((done) => (this.inside.onload = done));
      this.inside.document.close();
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
