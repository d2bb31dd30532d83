// Search where the pages are opened as files: browsers start no worker there, so the theme's worker
// runs in a hidden frame. The theme looks for the name IFrameWorker, and so does its plugin `offline`,
// which would otherwise load a script from another server.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.body.append(frame);
      this.frame = frame;
      this.scope = frame.contentWindow;
      const inside = frame.contentDocument;
      inside.open();
      inside.write("<!doctype html><title>Search</title><body>");
      inside.close();
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.scope.importScripts = async (...urls) => {
        for (const each of urls) await this.load(each);
      };
      this.ready = this.load(url);
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${url} cannot be loaded`));
        script.src = url;
        this.frame.contentDocument.body.append(script);
      });
    }

    async postMessage(data) {
      await this.ready;
      this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
